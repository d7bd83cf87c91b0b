// Runs clients that npm serves against the built heddle, with its embedded model. Arguments: names of clients, to run only these.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The packages of each client. The script that uses them has the client's name. */
const CLIENTS = {
  'vscode-jsonrpc': ['vscode-jsonrpc@10.0.0'],
  'ai-sdk': ['ai-sdk-provider-codex-app-server@1.1.7', 'ai@6.0.326'],
  'codex-acp': ['@agentclientprotocol/codex-acp@2.6.0'],
};
const TIMEOUT_MS = 120_000;
const INSTALL_TIMEOUT_MS = 300_000;
const SHOWN_CHARS = 6_000;

const root = join(import.meta.dirname, '..', '..');
const chosen = process.argv.slice(2);

function run(command, args, { timeout, ...options }) {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout, killSignal: 'SIGKILL', ...options });
    child.stdout.on('data', (part) => (output += String(part)));
    child.stderr.on('data', (part) => (output += String(part)));
    child.on('error', (error) => resolve({ code: -1, output: error.message }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** Installs the packages of a client outside of the project's own, without their scripts, unless they are there. */
async function install(name) {
  const folder = join(root, '.cache', 'clients', name);
  const done = join(folder, `installed-${CLIENTS[name].join(' ').replaceAll('/', '_')}`);
  if (existsSync(done)) return folder;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const options = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--omit=optional'];
  const { code, output } = await run('npm', ['install', ...options, ...CLIENTS[name]], { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
  if (code !== 0) throw new Error(`${name} cannot be installed:\n${output}`);
  writeFileSync(done, '');
  return folder;
}

async function passes(name) {
  const packages = await install(name);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-client-')));
  try {
    const [home, work, temp] = ['home', 'work', 'tmp'].map((part) => join(folder, part));
    for (const path of [home, work, temp]) mkdirSync(path);
    // Some clients name the provider of OpenAI if none is configured.
    writeFileSync(join(home, 'config.toml'), 'model_provider = "scripted"\n');
    const env = { PATH: process.env.PATH, HOME: home, HEDDLE_HOME: home, TMPDIR: temp };
    const paths = { CLIENT_PACKAGES: packages, HEDDLE: join(root, 'bin', 'heddle.js') };
    const script = join(import.meta.dirname, `${name}.js`);
    const { code, output } = await run(process.execPath, [script], { cwd: work, env: { ...env, ...paths }, timeout: TIMEOUT_MS });
    process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${CLIENTS[name][0]}\n`);
    if (code !== 0) process.stdout.write(`${output.slice(-SHOWN_CHARS).replace(/^/gm, '     ')}\n`);
    return code === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

const names = chosen.length === 0 ? Object.keys(CLIENTS) : chosen;
const unknown = names.filter((name) => !(name in CLIENTS));
if (unknown.length > 0) throw new Error(`expected some of ${Object.keys(CLIENTS)}, found ${unknown}`);
let passed = 0;
for (const name of names) if (await passes(name)) passed++;
process.stdout.write(`${passed} of ${names.length} clients passed\n`);
process.exitCode = passed === names.length ? 0 : 1;
