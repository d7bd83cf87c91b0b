// Runs clients that npm serves against the built heddle, with its embedded model. Arguments: names
// of clients, to run only these.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** As packages with binaries name this system. */
const SYSTEM = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
/** OpenClaw trusts the plugin only if it has installed it itself. The plugin has no 2026.9.6. */
const OPENCLAW_PLUGIN = [
  'openclaw/openclaw.mjs',
  'plugins',
  'install',
  '@openclaw/codex@2026.9.5',
  '--pin',
];
/**
 * The packages of each client. The script that uses them has the client's name. `setup`: a script
 * in the packages, and arguments, to run once, with the folder `home` among the packages as the
 * home. `node24`: the client does not support Node 20.
 */
const CLIENTS = {
  'vscode-jsonrpc': { packages: ['vscode-jsonrpc@10.0.0'] },
  'ai-sdk': { packages: ['ai-sdk-provider-codex-app-server@1.1.7', 'ai@6.0.326'] },
  'codex-acp': { packages: ['@agentclientprotocol/codex-acp@2.6.0'] },
  happy: { packages: ['happy@1.2.5'] },
  openclaw: {
    packages: ['openclaw@2026.9.5'],
    setup: OPENCLAW_PLUGIN,
    node24: true,
    timeout: 300_000,
  },
  promptfoo: { packages: ['promptfoo@0.123.1', `@libsql/${SYSTEM}@0.5.29`], node24: true },
};
const NODE24 = 'node@24.21.0';
const TIMEOUT_MS = 120_000;
const INSTALL_TIMEOUT_MS = 400_000;
/** How long a client's processes may take to end after its script. */
const END_TIMEOUT_MS = 5_000;
const SHOWN_CHARS = 6_000;

const root = join(import.meta.dirname, '..', '..');
const chosen = process.argv.slice(2);
/**
 * The variables that an installation needs. Others, such as those with the folders of a client,
 * could lead it to the user's own files.
 */
const INSTALL_ENV =
  /^(PATH|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|npm_config_.*|(https?|all|no)_proxy)$/i;
/** The program that runs. It has a process group of its own, which Ctrl-C does not reach. */
let running = null;
let stopped = false;
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    stopped = true;
    if (running !== null) killGroup(running);
  });

/** Runs a program to its end, and ends what it leaves behind. */
async function run(command, args, { timeout, ...options }) {
  let output = '';
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...options,
  });
  running = child.pid ?? null;
  child.stdout.on('data', (part) => (output += String(part)));
  child.stderr.on('data', (part) => (output += String(part)));
  const timer = setTimeout(() => {
    output += `\nnot done after ${timeout / 1_000} s\n`;
    killGroup(child.pid);
  }, timeout);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const [code] = await once(child, 'exit').finally(() => clearTimeout(timer));
  running = null;
  const left = await leftOf(child.pid);
  if (left.length > 0) killGroup(child.pid);
  await Promise.race([closed, wait(END_TIMEOUT_MS, undefined, { ref: false })]);
  return { code, left, output };
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** The processes of a group that still run some seconds after its leader has ended. */
async function leftOf(group) {
  const end = Date.now() + END_TIMEOUT_MS;
  for (;;) {
    const lines = execFileSync('ps', ['-A', '-o', 'pgid=,stat=,args='], {
      encoding: 'utf8',
      maxBuffer: 16 << 20,
    }).split('\n');
    const left = lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([pgid, state]) => Number(pgid) === group && !state.startsWith('Z'));
    if (left.length === 0 || Date.now() > end) return left.map((parts) => parts.slice(2).join(' '));
    await wait(100);
  }
}

/**
 * Installs packages outside of the project's own, unless they are there. Only the package `node`
 * runs a script.
 */
async function install(name, { packages, setup, node }, options) {
  const folder = join(root, '.cache', 'clients', name);
  const done = join(
    folder,
    `installed-${[...packages, ...(setup ?? [])].join(' ').replaceAll('/', '_')}`,
  );
  if (existsSync(done)) return folder;
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { node: true } }),
  );
  const must = async (command, args, env) => {
    const { code, output } = await run(command, args, {
      cwd: folder,
      env,
      timeout: INSTALL_TIMEOUT_MS,
    });
    if (code !== 0) throw new Error(`${name} cannot be installed:\n${output}`);
  };
  await must(
    'npm',
    ['install', '--no-audit', '--no-fund', '--no-save', ...options, ...packages],
    process.env,
  );
  const kept = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => INSTALL_ENV.test(key)),
  );
  if (setup)
    await must(node, [join(folder, 'node_modules', setup[0]), ...setup.slice(1)], {
      ...kept,
      HOME: home,
    });
  writeFileSync(done, '');
  return folder;
}

async function installNode24() {
  return join(
    await install('node24', { packages: [NODE24] }, []),
    'node_modules',
    'node',
    'bin',
    'node',
  );
}

/**
 * Makes a folder with heddle under the name `codex`, which clients look for, and the Node that its
 * start line looks for.
 */
function makeBin(folder) {
  mkdirSync(folder);
  symlinkSync(process.execPath, join(folder, 'node'));
  const codex = join(folder, 'codex');
  symlinkSync(join(root, 'bin', 'heddle.js'), codex);
  return codex;
}

async function passes(name) {
  const { packages, setup, node24, timeout = TIMEOUT_MS } = CLIENTS[name];
  const node = node24 ? await installNode24() : process.execPath;
  const client = await install(name, { packages, setup, node }, [
    '--ignore-scripts',
    '--omit=optional',
  ]);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-client-')));
  try {
    const [home, work, temp] = ['home', 'work', 'tmp'].map((part) => join(folder, part));
    for (const path of [home, work, temp]) mkdirSync(path);
    const codex = makeBin(join(folder, 'bin'));
    // Some clients name the provider of OpenAI if none is configured.
    writeFileSync(join(home, 'config.toml'), 'model_provider = "scripted"\n');
    const path = [dirname(codex), process.env.PATH].join(delimiter);
    const env = {
      PATH: path,
      HOME: home,
      CODEX_HOME: home,
      TMPDIR: temp,
      CLIENT_PACKAGES: client,
      CODEX: codex,
    };
    const script = join(import.meta.dirname, `${name}.js`);
    const start = Date.now();
    const { code, left, output } = await run(node, [script], { cwd: work, env, timeout });
    const passed = code === 0 && left.length === 0;
    process.stdout.write(
      `${passed ? 'ok  ' : 'FAIL'} ${packages[0]} (${((Date.now() - start) / 1_000).toFixed(1)} s)\n`,
    );
    if (!passed) process.stdout.write(`${output.slice(-SHOWN_CHARS).replace(/^/gm, '     ')}\n`);
    for (const line of left) process.stdout.write(`     still runs: ${line}\n`);
    return passed;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

const names = chosen.length === 0 ? Object.keys(CLIENTS) : chosen;
const unknown = names.filter((name) => !(name in CLIENTS));
if (unknown.length > 0)
  throw new Error(`expected some of ${Object.keys(CLIENTS)}, found ${unknown}`);
let passed = 0;
for (const name of names) if (!stopped && (await passes(name))) passed++;
process.stdout.write(`${passed} of ${names.length} clients passed\n`);
process.exitCode = passed === names.length ? 0 : 1;
