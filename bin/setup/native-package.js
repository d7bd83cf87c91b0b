const { spawnSync } = require('node:child_process');
const { join } = require('node:path');
const { npm } = require('./npm.js');
const { AGAIN, fail, say } = require('./report.js');
const { runCommand, showProgress } = require('./run-step.js');
const { installSystemPackages, missing } = require('./system-packages.js');

const root = join(__dirname, '..', '..');
/** The prebuilt package has some megabytes. */
const DOWNLOAD_MS_MAX = 60_000;
/** Compiling takes two minutes, and ten on a busy machine. */
const COMPILE_MS_MAX = 30 * 60_000;
const COMPILER_COMMANDS = ['python3', 'make', 'g++'];
/** For the install script of better-sqlite3, which then downloads nothing. */
const FROM_SOURCE = { npm_config_build_from_source: 'better-sqlite3' };

/** Whether this Node can load better-sqlite3. */
function nativePackageLoads() {
  return (
    spawnSync(process.execPath, ['-e', "new (require('better-sqlite3'))(':memory:')"], {
      cwd: root,
    }).status === 0
  );
}

/**
 * Takes a prebuilt better-sqlite3 if there is one for this Node, else compiles it. Ends the setup
 * if neither is possible.
 */
async function bringNativePackage() {
  const why = await downloadNativePackage();
  if (why === null) return;
  say(`no prebuilt better-sqlite3 can be used: ${why}`);
  await installSystemPackages(missing(COMPILER_COMMANDS));
  const args = ['rebuild', 'better-sqlite3', '--ignore-scripts=false', '--loglevel=error'];
  const { problem, output } = await showProgress(
    `compiling better-sqlite3 for Node ${process.versions.node}, which takes some minutes`,
    () => npm(args, { msMax: COMPILE_MS_MAX, env: FROM_SOURCE }),
  );
  if (nativePackageLoads()) return;
  fail(
    `better-sqlite3 could not be compiled: ${problem ?? 'this Node cannot load the result'}. ${ADVICE}, ${AGAIN}`,
    output,
  );
}

const ADVICE =
  'If the headers of Node cannot be downloaded, set npm_config_nodedir to a folder that has them (/usr for /usr/include/node). ' +
  'If a mirror has prebuilt packages, set npm_config_better_sqlite3_binary_host to its URL. Correct the cause';

/**
 * Does the first half of the install script of better-sqlite3, within a limit of time. Returns why
 * that failed, else null.
 */
async function downloadNativePackage() {
  const program = join(root, 'node_modules', 'prebuild-install', 'bin.js');
  const options = {
    cwd: join(root, 'node_modules', 'better-sqlite3'),
    env: process.env,
    msMax: DOWNLOAD_MS_MAX,
  };
  const download = () => runCommand(process.execPath, [program, '--verbose'], options);
  const { succeeded, problem, output } = await showProgress(
    `looking for a prebuilt better-sqlite3 for Node ${process.versions.node}`,
    download,
  );
  if (nativePackageLoads()) return null;
  if (succeeded) return 'this Node cannot load it';
  const reasons = [...output.matchAll(/^prebuild-install (?:warn|info) install (.+)$/gm)];
  return reasons.at(-1)?.[1] ?? problem;
}

module.exports = { bringNativePackage, nativePackageLoads };
