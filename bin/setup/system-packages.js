const { accessSync, constants, existsSync } = require('node:fs');
const { delimiter, join } = require('node:path');
const { AGAIN, fail } = require('./report.js');
const { runCommand, showProgress } = require('./run-step.js');

const isWindows = process.platform === 'win32';
const APT_MS_MAX = 20 * 60_000;
/** The Debian package of each command. */
const PACKAGES = {
  git: 'git',
  bwrap: 'bubblewrap',
  python3: 'python3',
  make: 'make',
  'g++': 'g++',
};
const OTHER_MANAGERS = { dnf: 'dnf install -y', pacman: 'pacman -S --noconfirm', apk: 'apk add' };

/** Returns those of the commands that are not in the PATH. */
function missing(commands) {
  const folders = (process.env.PATH || '').split(delimiter);
  const found = (command) =>
    folders.some(
      (folder) => folder !== '' && canRun(join(folder, isWindows ? `${command}.exe` : command)),
    );
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

/** Ends the setup if the packages of these commands cannot be installed. */
async function installSystemPackages(commands) {
  if (commands.length === 0) return;
  const names = commands.map((command) => PACKAGES[command]).join(' ');
  const problem = await aptInstall(names);
  if (problem !== null) fail(`${problem}. Run: ${installLine(names)}; ${AGAIN}`);
}

/** Installs Debian packages if this user can. Returns what is wrong, else null. */
async function aptInstall(names) {
  if (!isDebian() || !isRoot()) return `this system lacks ${names}`;
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, msMax: APT_MS_MAX };
  const install = ['install', '-y', '-qq', '--no-install-recommends', ...names.split(' ')];
  return showProgress(`installing ${names} with apt-get`, async () => {
    for (const args of [['update', '-qq'], install]) {
      const { succeeded, problem, output } = await runCommand('apt-get', args, options);
      if (!succeeded)
        return `apt-get could not install ${names}: ${problem}${output === '' ? '' : `: ${output.split('\n').at(-1)}`}`;
    }
    return null;
  });
}

/** The command line that installs these packages. */
function installLine(names) {
  const sudo = isRoot() ? '' : 'sudo ';
  if (isDebian())
    return `${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${names}`;
  const manager = Object.keys(OTHER_MANAGERS).find((command) => missing([command]).length === 0);
  return `${sudo}${OTHER_MANAGERS[manager] ?? 'YOUR-PACKAGE-MANAGER install'} ${names}`;
}

function isDebian() {
  return existsSync('/etc/debian_version');
}

/** Windows has no user ids. */
function isRoot() {
  return process.getuid?.() === 0;
}

module.exports = { aptInstall, installLine, installSystemPackages, missing };
