// Sets up what is missing on a fresh clone, and no more: system packages, npm packages, the build. It needs nothing but
// Node itself. When all is in place it only looks, in a few milliseconds, and says nothing.
const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { accessSync, constants, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { delimiter, dirname, join } = require('node:path');

const root = join(__dirname, '..');
const isWindows = process.platform === 'win32';
const NODE_MIN = [20, 19];
const LOCK_POLL_MS = 200;
/** By the command, the Debian package. */
const PACKAGES = { git: 'git', bwrap: 'bubblewrap', python3: 'python3', make: 'make', 'g++': 'g++' };
const COMMANDS = ['git'];
/** Commands are run in it; without it, those that need a sandbox are refused. */
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
  if (!existsSync('/etc/debian_version')) fail(`missing on this system: ${names.join(' ')}; install it and run this again`);
  if (process.getuid() !== 0) fail(`missing on this system; run: sudo ${aptLine(names)}`);
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

/** Also where it was said once what to run: whoever does not want it is not told each time. */
function sandboxIsReady() {
  return missing(SANDBOX_COMMANDS).length === 0 || existsSync(sandboxStamp);
}

/** The rest works without it, so nothing here ends the setup. */
function bringSandbox() {
  const isDebian = existsSync('/etc/debian_version');
  if (isDebian && process.getuid() === 0 && aptInstall(['bubblewrap'])) return;
  say(`commands are refused until there is bubblewrap to run them in; run: sudo ${isDebian ? aptLine(['bubblewrap']) : foreignLine()}`);
  writeFileSync(sandboxStamp, '');
}

function foreignLine() {
  const lines = { dnf: 'dnf install -y bubblewrap', pacman: 'pacman -S --noconfirm bubblewrap', apk: 'apk add bubblewrap' };
  const manager = Object.keys(lines).find((command) => missing([command]).length === 0);
  return lines[manager] || 'YOUR-PACKAGE-MANAGER install bubblewrap';
}

/** Packages are ready for one lockfile under one kind of Node: better-sqlite3 is compiled for it. */
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
    // Only better-sqlite3 has an install script that is needed; it runs below.
    if (!npm(['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])) fail('npm ci failed');
  }
  if (!nativePackageLoads()) compileNativePackage();
  writeFileSync(packagesStamp, packagesKey());
}

/** Whether node_modules, as npm wrote down that it left it, has what the lockfile asks for. */
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
  say(`installing better-sqlite3 for Node ${process.versions.node}; where it must be compiled, this takes two minutes`);
  const rebuild = (stdio) => npm(['rebuild', 'better-sqlite3', '--loglevel=error'], stdio);
  const tools = missing(COMPILER_COMMANDS);
  if (tools.length === 0) rebuild(['ignore', 2, 2]);
  else if (!rebuild('ignore')) {
    installSystemPackages(tools);
    rebuild(['ignore', 2, 2]);
  }
  if (!nativePackageLoads()) fail('better-sqlite3 could not be installed');
}

/** On Windows npm is a script, which only a shell starts. */
function npm(args, stdio) {
  const bin = dirname(process.execPath);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  // Headers beside Node itself spare the compiler's download of them, and are the right ones.
  if (existsSync(join(bin, '..', 'include', 'node', 'node_version.h'))) env.npm_config_nodedir = join(bin, '..');
  return run('npm', args, { env, stdio, shell: isWindows });
}

/** The build holds code compiled by this Node's V8. */
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

/** Runs `work` while no other setup of this folder does. A lock whose process is gone does not count. */
function alone(work) {
  for (let waits = 0; !takeLock(); waits += 1) {
    if (waits === 1) say(`waiting for another setup of this folder (if there is none, remove ${lockFile})`);
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

/** What a command prints goes to stderr: stdout is for whatever comes after the setup. */
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
