// Sets up a fresh clone: installs missing system packages and npm packages, and builds. It only
// needs Node. It says what it does and for how long. If nothing is missing, it prints nothing and
// ends after a few milliseconds.
const { createHash } = require('node:crypto');
const {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { constants } = require('node:os');
const { join } = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');
const { bringNativePackage, nativePackageLoads } = require('./setup/native-package.js');
const { npm } = require('./setup/npm.js');
const { AGAIN, fail, say } = require('./setup/report.js');
const { killCommands, showProgress } = require('./setup/run-step.js');
const {
  aptInstall,
  installLine,
  installSystemPackages,
  missing,
} = require('./setup/system-packages.js');

const root = join(__dirname, '..');
const NODE_MIN = [20, 19];
const LOCK_POLL_MS = 200;
const PACKAGES_MS_MAX = 30 * 60_000;
const NPM_ADVICE =
  'Correct the cause (if the registry cannot be reached: your network; registry and https-proxy in npm config list; NODE_EXTRA_CA_CERTS)';
const COMMANDS = ['git'];
/** The server runs commands in it. Without it, the server refuses commands that need a sandbox. */
const SANDBOX_COMMANDS = process.platform === 'linux' ? ['bwrap'] : [];
const BUILD_INPUTS = [
  'bin',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'src',
  'schema/bundle.ts',
];

const lockFile = join(root, '.setup.lock');
const sandboxStamp = join(root, 'node_modules', '.heddle-sandbox');
const packagesStamp = join(root, 'node_modules', '.heddle-setup');
const buildStamp = join(root, 'dist', '.heddle-setup');

async function setup() {
  requireNode();
  if (missing(COMMANDS).length === 0 && sandboxIsReady() && packagesAreReady() && buildIsReady())
    return;
  await takeLock();
  await installSystemPackages(missing(COMMANDS));
  if (!packagesAreReady()) await installPackages();
  if (!sandboxIsReady()) await bringSandbox();
  if (!buildIsReady()) await build();
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(
    `Node ${NODE_MIN.join('.')} or later is needed; this is ${process.versions.node}. Install a newer one (https://nodejs.org), ${AGAIN}`,
  );
}

/**
 * Also true if the setup has already printed the command for installing the sandbox, so that it
 * prints it only once.
 */
function sandboxIsReady() {
  return missing(SANDBOX_COMMANDS).length === 0 || existsSync(sandboxStamp);
}

/** Everything else works without a sandbox, so a failure does not end the setup. */
async function bringSandbox() {
  const problem = await aptInstall('bubblewrap');
  if (problem === null) return;
  say(
    `${problem}. heddle refuses sandboxed commands until it is installed; run: ${installLine('bubblewrap')}`,
  );
  writeFileSync(sandboxStamp, '');
}

/** Identifies the lockfile, and the kind of Node that better-sqlite3 is compiled for. */
function packagesKey() {
  const { platform, arch, versions } = process;
  return digest((hash) =>
    hash
      .update(`${platform} ${arch} ${versions.modules}\n`)
      .update(readFileSync(join(root, 'package-lock.json'))),
  );
}

function packagesAreReady() {
  return read(packagesStamp) === packagesKey();
}

async function installPackages() {
  if (!packagesMatchLock()) {
    rmSync(packagesStamp, { force: true });
    // Only the install script of better-sqlite3 is needed. It runs below.
    const args = [
      'ci',
      '--ignore-scripts',
      '--include=dev',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const { succeeded, problem, output } = await showProgress('installing the npm packages', () =>
      npm(args, { msMax: PACKAGES_MS_MAX }),
    );
    if (!succeeded)
      fail(`the npm packages could not be installed: ${problem}. ${NPM_ADVICE}, ${AGAIN}`, output);
  }
  if (!nativePackageLoads()) await bringNativePackage();
  writeFileSync(packagesStamp, packagesKey());
}

/**
 * Whether node_modules has the packages of the lockfile, according to npm's own record in
 * node_modules.
 */
function packagesMatchLock() {
  const installed = parsed(read(join(root, 'node_modules', '.package-lock.json')))?.packages;
  if (installed === undefined) return false;
  const { '': _project, ...wanted } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  ).packages;
  return Object.entries(wanted).every(([path, { version, optional }]) =>
    path in installed ? installed[path].version === version : optional === true,
  );
}

/** Identifies the sources and V8, since the build contains code that this V8 has compiled. */
function buildKey() {
  return digest((hash) => {
    hash.update(`${process.arch} ${process.versions.v8}\n`);
    for (const file of BUILD_INPUTS.flatMap(filesIn))
      hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  });
}

function filesIn(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => filesIn(`${path}/${name}`));
}

function buildIsReady() {
  return existsSync(join(root, 'dist', 'heddle.cjs')) && read(buildStamp) === buildKey();
}

async function build() {
  const key = buildKey();
  try {
    const builder = require('./build.js');
    await showProgress('building dist/heddle.cjs', () => builder.build());
    builder.replaceFile(buildStamp, key);
  } catch (error) {
    fail(
      `the build failed: ${error.message.split('\n')[0]}. If you have not changed the sources, look at git status`,
    );
  }
}

/** Waits until no other setup runs in this folder. Ignores a lock whose process has ended. */
async function takeLock() {
  // The first attempt may only have removed the lock of a process that has ended.
  if (!lockIsFree() && !lockIsFree()) {
    await showProgress(
      `waiting for another setup in this folder to end (if there is none, remove ${lockFile})`,
      async () => {
        while (!lockIsFree()) await sleep(LOCK_POLL_MS);
      },
    );
  }
  process.on('exit', () => rmSync(lockFile, { force: true }));
}

/** Takes the lock if it is free. */
function lockIsFree() {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST')
      fail(`${error.message}. This user must be able to write in the folder of the clone`);
    if (!isAlive(Number(read(lockFile)))) rmSync(lockFile, { force: true });
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

function digest(fill) {
  const hash = createHash('sha256');
  fill(hash);
  return hash.digest('hex');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

process.on('exit', killCommands);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    if (process.stderr.isTTY) process.stderr.write('\n');
    say(`ended by ${signal}; the next setup begins again where it is necessary`);
    process.exit(128 + constants.signals[signal]);
  });
setup().catch((error) => fail(`${error.message}. Correct what this names, ${AGAIN}`));
