import type { Clock } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import { awaitKill } from '../sandbox/processes/await-kill.ts';
import type { Processes } from '../sandbox/processes/processes.ts';

/**
 * A listing that finds nothing for so long waits for something, such as a file system that does not
 * answer, and ends.
 */
const SILENT_MS_MAX = 5_000;
/** How often that is looked at before a listing that still finds files ends. */
const LOOKS_MAX = 12;
/**
 * Ripgrep keeps each line of an ignore file in memory: one without an end, such as a link to a
 * device, must not take all of it.
 */
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;
/**
 * The exit codes of a ripgrep that has looked everywhere: it found files, none, or some that it
 * could not read.
 */
const FINISHED = [0, 1, 2];
/** The folders in which version control keeps its own files. */
const VERSION_CONTROL = ['.git', '.hg', '.svn', '.jj'];

export interface ListFilesServices {
  processes: Processes;
  clock: Clock;
  /** The server's own environment: it says where the user's own ignore file is. */
  env: Env;
}

export interface Listing {
  /** The absolute path of ripgrep. */
  program: string;
  /** The absolute path of the folder. */
  folder: string;
  /**
   * Gets the paths of the files, relative to the folder, each with a line feed behind it. The bytes
   * are valid only until it returns. Returns whether more are wanted.
   */
  onPaths: (bytes: Buffer) => boolean;
  /** Ends the listing. */
  signal: AbortSignal;
}

/**
 * Lists the files below a folder that git does not ignore, hidden ones too, with ripgrep. Follows
 * links. Files with a line feed in their path are left out. Resolves with null if all were listed,
 * else with the reason why not. Rejects with a `ProcessStartError` if there is no such folder.
 */
export async function listFiles(
  { processes, clock, env }: ListFilesServices,
  { program, folder, onPaths, signal }: Listing,
) {
  if (signal.aborted) return ENDED;
  const ending = new AbortController();
  let hasFound = false;
  const ripgrep = await processes.start(
    {
      argv: [program, ...ARGUMENTS],
      cwd: folder,
      env: Object.fromEntries(
        ['HOME', 'XDG_CONFIG_HOME'].flatMap((name) =>
          env[name] === undefined ? [] : [[name, env[name]]],
        ),
      ),
      bounds: null,
      memoryBytesMax: MEMORY_BYTES_MAX,
      owner: ['file-search'],
      input: false,
      terminal: null,
    },
    (stream, bytes) => {
      if (stream !== 'stdout' || ending.signal.aborted) return;
      hasFound = true;
      if (!onPaths(bytes)) ending.abort(TOO_MANY);
    },
  );
  let looks = 0;
  const look = () => {
    if (!hasFound) return ending.abort(SILENT);
    if (++looks === LOOKS_MAX) return ending.abort(TOO_SLOW);
    hasFound = false;
    timer = clock.setTimer(look, SILENT_MS_MAX);
  };
  let timer = clock.setTimer(look, SILENT_MS_MAX);
  // A ripgrep that waits for a disk in the kernel may not end when it is killed.
  const givenUp = new Promise<void>((resolve) => {
    const kill = () => resolve(awaitKill(ripgrep.kill(), clock));
    ending.signal.addEventListener('abort', kill, { once: true });
    if (ending.signal.aborted) kill();
  });
  const end = () => ending.abort(ENDED);
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  const ended = await Promise.race([ripgrep.ended, givenUp]);
  timer.clear();
  signal.removeEventListener('abort', end);
  if (ended === undefined || ending.signal.aborted) return String(ending.signal.reason);
  return FINISHED.includes(ended.exitCode)
    ? null
    : `ripgrep, which lists them, ended with the exit code ${ended.exitCode}: ${SUSPECT}`;
}

const SUSPECT =
  'perhaps a .gitignore, .ignore or .rgignore there is no regular file, or a very large one';
const ENDED = 'the search was ended';
const TOO_MANY = 'there are too many';
const TOO_SLOW = `listing them took longer than ${(LOOKS_MAX * SILENT_MS_MAX) / 1000} seconds`;
const SILENT = `no file was found for ${SILENT_MS_MAX / 1000} seconds: ${SUSPECT}, or a disk does not answer`;

const ARGUMENTS = [
  '--no-config',
  '--files',
  // Each path is written as it is found, also if ripgrep is killed later. It does not do so with
  // NUL behind the paths.
  '--line-buffered',
  '--hidden',
  '--follow',
  '--no-messages',
  ...[...VERSION_CONTROL, '*\n*'].flatMap((name) => ['--glob', `!${name}`]),
];
