const { spawn } = require('node:child_process');

const isWindows = process.platform === 'win32';
/** How often a line on a terminal is renewed, and how often a line is written elsewhere. */
const RENEWED_MS = 1000;
const REPEATED_MS = 10_000;
const COLUMNS_DEFAULT = 80;
/** How much of the end of a command's output is kept, to be shown if it fails. */
const OUTPUT_CHARS_MAX = 16_384;

/** The commands that run. They must not outlive this process. */
const running = new Set();

/**
 * Says what `work` does, and for how long it has been at it: on a terminal in a line that is
 * renewed, elsewhere in a line every ten seconds. Returns or throws what `work` does.
 */
async function showProgress(title, work, output = process.stderr) {
  const startedAtMs = Date.now();
  const seconds = () => Math.round((Date.now() - startedAtMs) / 1000);
  const begun = `setup: ${title}`;
  const line = () => (seconds() === 0 ? begun : `${begun} (${seconds()} s)`);
  output.write(output.isTTY ? cut(begun, output.columns) : `${begun}\n`);
  const show = () =>
    output.write(
      output.isTTY
        ? `\r\x1b[2K${cut(line(), output.columns)}`
        : `${begun}: ${seconds()} s so far\n`,
    );
  const timer = setInterval(show, output.isTTY ? RENEWED_MS : REPEATED_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (output.isTTY) output.write(`\r\x1b[2K${line()}\n`);
    else if (Date.now() - startedAtMs >= REPEATED_MS)
      output.write(`${begun}: ended after ${seconds()} s\n`);
  }
}

/** A line that wraps cannot be renewed. */
function cut(text, columns) {
  const room = Math.max(20, columns || COLUMNS_DEFAULT) - 1;
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

/**
 * Runs a command with all that it starts, for at most `msMax` milliseconds. Resolves with whether
 * it succeeded, and if not, why: `output` is the end of what it wrote to stdout and stderr, and
 * `problem` says how it ended. Never rejects.
 */
function runCommand(command, args, { cwd, env, shell = false, msMax }) {
  return new Promise((resolve) => {
    // A group of its own, so that all that it starts can be killed.
    const child = spawn(command, args, {
      cwd,
      env,
      shell,
      detached: !isWindows,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    let output = '';
    const keep = (text) => {
      output = (output + text).slice(-OUTPUT_CHARS_MAX);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', keep);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child);
    }, msMax);
    const end = (problem) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ succeeded: problem === null, problem, output: output.trim() });
    };
    child.once('error', (error) =>
      end(error.code === 'ENOENT' ? `${command} was not found in the PATH` : error.message),
    );
    child.once('close', (code, signal) => {
      if (isLate) end(`${command} did not end within ${Math.round(msMax / 1000)} s`);
      else end(code === 0 ? null : `${command} ended with ${signal ?? `exit code ${code}`}`);
    });
  });
}

function killGroup(child) {
  try {
    if (isWindows) child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Kills all commands that run, with all that they have started. */
function killCommands() {
  for (const child of running) killGroup(child);
}

module.exports = { killCommands, runCommand, showProgress };
