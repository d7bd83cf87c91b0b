const { existsSync } = require('node:fs');
const { delimiter, dirname, join } = require('node:path');
const { runCommand } = require('./run-step.js');

const root = join(__dirname, '..', '..');

/**
 * Runs the npm of this Node. On Windows it is a script, which only a shell can run. `env`: further
 * variables.
 */
function npm(args, { msMax, env: added = {} }) {
  const bin = dirname(process.execPath);
  const env = { ...process.env, ...added, PATH: `${bin}${delimiter}${process.env.PATH}` };
  // With the headers of this Node, if it has them, the compiler need not download any.
  if (existsSync(join(bin, '..', 'include', 'node', 'node_version.h')))
    env.npm_config_nodedir = join(bin, '..');
  return runCommand('npm', args, { cwd: root, env, shell: process.platform === 'win32', msMax });
}

module.exports = { npm };
