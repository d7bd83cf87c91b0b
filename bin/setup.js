// Sets up a fresh clone: installs missing system packages and npm packages, and builds. It only needs Node. If nothing is
// missing, it prints nothing and ends after a few milliseconds.
const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { delimiter, dirname, join } = require('node:path');

const root = join(__dirname, '..');
const isWindows = process.platform === 'win32';
const NODE_MIN = [20, 19];
const LOCK_POLL_MS = 200;
/** The Debian package of each command. */
const PACKAGES = { git: 'git', bwrap: 'bubblewrap', python3: 'python3', make: 'make', 'g++': 'g++' };
const COMMANDS = ['git'];
/** The server runs commands in it. Without it, the server refuses commands that need a sandbox. */
const SANDBOX_COMMANDS = process.platform === 'linux' ? ['bwrap'] : [];
const COMPILER_COMMANDS = ['python3', 'make', 'g++'];
const BUILD_INPUTS = ['bin', 'package.json', 'package-lock.json', 'tsconfig.json', 'src', 'schema/bundle.ts'];

const lockFile = join(root, '.setup.lock');
const sandboxStamp = join(root, 'node_modules', '.heddle-sandbox');
const packagesStamp = join(root, 'node_modules', '.heddle-setup');
const buildStamp = join(root, 'dist', '.heddle-setup');

function setup() {
  requireNode();
  if (missing(COMMANDS).length === 0 && sandboxIsReady() && packagesAreReady() && buildIsReady()) return;
  alone(async () => {
    installSystemPackages(missing(COMMANDS));
    if (!packagesAreReady()) installPackages();
    if (!sandboxIsReady()) bringSandbox();
    if (!buildIsReady()) await build();
  });
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`Node ${NODE_MIN.join('.')} or later is needed; this is ${process.versions.node}`);
}

function missing(commands) {
  const folders = (process.env.PATH || '').split(delimiter);
  const found = (command) => folders.some((folder) => folder !== '' && canRun(join(folder, isWindows ? `${command}.exe` : command)));
  return commands.filter((command) => !found(command));
}

function canRun(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installSystemPackages(commands) {
  if (commands.length === 0) return;
  const names = commands.map((command) => PACKAGES[command]);
  if (!existsSync('/etc/debian_version'))
    fail(`missing on this system: ${names.join(' ')}; install these packages and run the setup again`);
  if (process.getuid() !== 0) fail(`system packages are missing; run: sudo ${aptLine(names)}`);
  if (!aptInstall(names)) fail(`apt-get could not install ${names.join(' ')}`);
}

function aptLine(names) {
  return `apt-get update && sudo apt-get install -y --no-install-recommends ${names.join(' ')}`;
}

function aptInstall(names) {
  say(`installing ${names.join(' ')} with apt-get`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return (
    run('apt-get', ['update', '-qq'], { env }) && run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], { env })
  );
}

/** Also true if the setup has already printed the command for installing the sandbox, so that it prints it only once. */
function sandboxIsReady() {
  return missing(SANDBOX_COMMANDS).length === 0 || existsSync(sandboxStamp);
}

/** Everything else works without a sandbox, so a failure does not end the setup. */
function bringSandbox() {
  const isDebian = existsSync('/etc/debian_version');
  if (isDebian && process.getuid() === 0 && aptInstall(['bubblewrap'])) return;
  say(`sandboxed commands are refused until bubblewrap is installed; run: sudo ${isDebian ? aptLine(['bubblewrap']) : foreignLine()}`);
  writeFileSync(sandboxStamp, '');
}

function foreignLine() {
  const lines = { dnf: 'dnf install -y bubblewrap', pacman: 'pacman -S --noconfirm bubblewrap', apk: 'apk add bubblewrap' };
  const manager = Object.keys(lines).find((command) => missing([command]).length === 0);
  return lines[manager] || 'YOUR-PACKAGE-MANAGER install bubblewrap';
}

/** Identifies the lockfile, and the kind of Node that better-sqlite3 is compiled for. */
function packagesKey() {
  const { platform, arch, versions } = process;
  return digest((hash) => hash.update(`${platform} ${arch} ${versions.modules}\n`).update(readFileSync(join(root, 'package-lock.json'))));
}

function packagesAreReady() {
  return read(packagesStamp) === packagesKey();
}

function installPackages() {
  if (!packagesMatchLock()) {
    say('installing the npm packages');
    rmSync(packagesStamp, { force: true });
    // Only the install script of better-sqlite3 is needed. It runs below.
    if (!npm(['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])) fail('npm ci failed');
  }
  if (!nativePackageLoads()) compileNativePackage();
  writeFileSync(packagesStamp, packagesKey());
}

/** Whether node_modules has the packages of the lockfile, according to npm's own record in node_modules. */
function packagesMatchLock() {
  const text = read(join(root, 'node_modules', '.package-lock.json'));
  if (text === null) return false;
  const installed = JSON.parse(text).packages;
  const { '': _project, ...wanted } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(wanted).every(([path, { version, optional }]) =>
    path in installed ? installed[path].version === version : optional === true,
  );
}

function nativePackageLoads() {
  return spawnSync(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:')"], { cwd: root }).status === 0;
}

function compileNativePackage() {
  say(`installing better-sqlite3 for Node ${process.versions.node} (two minutes if it must be compiled)`);
  const rebuild = (stdio) => npm(['rebuild', 'better-sqlite3', '--loglevel=error'], stdio);
  const tools = missing(COMPILER_COMMANDS);
  if (tools.length === 0) rebuild(['ignore', 2, 2]);
  else if (!rebuild('ignore')) {
    installSystemPackages(tools);
    rebuild(['ignore', 2, 2]);
  }
  if (!nativePackageLoads()) fail('better-sqlite3 could not be installed');
}

/** On Windows npm is a script, which only a shell can run. */
function npm(args, stdio) {
  const bin = dirname(process.execPath);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  // With the headers of this Node, if it has them, the compiler need not download any.
  if (existsSync(join(bin, '..', 'include', 'node', 'node_version.h'))) env.npm_config_nodedir = join(bin, '..');
  return run('npm', args, { env, stdio, shell: isWindows });
}

/** Identifies the sources and V8, since the build contains code that this V8 has compiled. */
function buildKey() {
  return digest((hash) => {
    hash.update(`${process.arch} ${process.versions.v8}\n`);
    for (const file of BUILD_INPUTS.flatMap(filesIn)) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
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
  say('building dist/heddle.cjs');
  const key = buildKey();
  try {
    const builder = require('./build.js');
    await builder.build();
    builder.replaceFile(buildStamp, key);
  } catch (error) {
    fail(`the build failed: ${error.message.split('\n')[0]}`);
  }
}

/** Runs `work` while no other setup runs in this folder. Ignores a lock whose process has ended. */
function alone(work) {
  for (let waits = 0; !takeLock(); waits += 1) {
    if (waits === 1) say(`waiting for another setup in this folder to end (if there is none, remove ${lockFile})`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
  process.on('exit', () => rmSync(lockFile, { force: true }));
  work();
}

function takeLock() {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') fail(error.message);
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

/** Runs a command, with its output on stderr: stdout belongs to the program that runs after the setup. */
function run(command, args, { env, stdio = ['ignore', 2, 2], shell = false }) {
  return spawnSync(command, args, { cwd: root, env, stdio, shell }).status === 0;
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

function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}

setup();
