// Runs the tests on Node 24, from the npm package `node`. Uses a copy of the project, since
// better-sqlite3 is compiled for one major version of Node. The copy keeps its packages for the
// next run.
const { execFileSync, spawnSync } = require('node:child_process');
const {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const { delimiter, dirname, join } = require('node:path');

const root = join(__dirname, '..');
const cache = join(root, '.cache', 'node24');
const copy = join(cache, 'heddle');
const KEPT = ['node_modules', 'dist'];

function main() {
  const node = node24();
  copyProject();
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
  const run = (args) => spawnSync(node, args, { cwd: copy, env, stdio: 'inherit' }).status ?? 1;
  process.exitCode =
    run(['bin/setup.js']) ||
    run(['node_modules/vitest/vitest.mjs', 'run', ...process.argv.slice(2)]);
}

/**
 * The binary in the package that also has the headers, which are needed to compile better-sqlite3.
 */
function node24() {
  const packages = join(cache, 'node_modules', 'node', 'node_modules');
  if (!existsSync(packages)) {
    mkdirSync(cache, { recursive: true });
    writeFileSync(
      join(cache, 'package.json'),
      JSON.stringify({ private: true, dependencies: { node: '24' }, allowScripts: { node: true } }),
    );
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: cache,
      stdio: ['ignore', 2, 2],
    });
  }
  return readdirSync(packages)
    .map((name) => join(packages, name, 'bin', 'node'))
    .find(existsSync);
}

/** Copies all files that git does not ignore, with their current contents in the working tree. */
function copyProject() {
  mkdirSync(copy, { recursive: true });
  for (const name of readdirSync(copy))
    if (!KEPT.includes(name)) rmSync(join(copy, name), { recursive: true });
  const list = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: root, encoding: 'utf8' },
  );
  for (const file of list
    .split('\0')
    .filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    copyFileSync(join(root, file), join(copy, file));
  }
}

main();
