import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import type { Clock, Timer } from '../base/clock.ts';
import type { Env } from '../base/env.ts';
import type { Processes } from '../sandbox/processes/processes.ts';

/** A listing ends when it has written so much, about half a million paths: nobody searches the whole disk with a few letters. */
const LISTING_BYTES_MAX = 32 * 1024 * 1024;
/** A listing that finds nothing for so long waits for something, such as a file system that does not answer, and ends. */
const SILENT_MS_MAX = 10_000;
/** The folders in which version control keeps its own files. */
const VERSION_CONTROL = ['.git', '.hg', '.svn', '.jj'];

export interface ListFilesDeps {
  processes: Processes;
  clock: Clock;
  /** The server's own environment: it says where the user's own ignore file is. */
  env: Env;
}

export interface Listing {
  /** The absolute path of the folder. */
  folder: string;
  /** Gets the paths of the files, relative to the folder, each with a NUL behind it. The bytes are valid only until it returns. */
  onPaths: (bytes: Buffer) => void;
  /** Ends the listing. */
  signal: AbortSignal;
}

/**
 * Lists the files below a folder that git does not ignore, hidden ones too, with ripgrep. Follows links. Resolves with whether all were
 * listed. Rejects with a `ProcessStartError` if there is no such folder.
 */
export async function listFiles({ processes, clock, env }: ListFilesDeps, { folder, onPaths, signal }: Listing): Promise<boolean> {
  if (signal.aborted) return false;
  let bytesLeft = LISTING_BYTES_MAX;
  let timer: Timer | null = null;
  let onBytes = () => {};
  const full = new AbortController();
  const ripgrep = await processes.start(
    {
      argv: [program(), ...ARGUMENTS],
      cwd: folder,
      env: Object.fromEntries(['HOME', 'XDG_CONFIG_HOME'].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
      bounds: null,
      owner: ['file-search'],
      input: false,
      terminal: null,
    },
    (stream, bytes) => {
      if (stream !== 'stdout' || bytesLeft === 0) return;
      onBytes();
      onPaths(bytes.subarray(0, bytesLeft));
      bytesLeft -= Math.min(bytesLeft, bytes.length);
      if (bytesLeft === 0) full.abort();
    },
  );
  const silent = new AbortController();
  const looksAgain = () => clock.setTimer(() => silent.abort(), SILENT_MS_MAX);
  timer = looksAgain();
  onBytes = () => {
    timer?.clear();
    timer = looksAgain();
  };
  const ending = AbortSignal.any([signal, full.signal, silent.signal]);
  const kill = () => void ripgrep.kill();
  ending.addEventListener('abort', kill, { once: true });
  if (ending.aborted) kill();
  await ripgrep.ended;
  timer.clear();
  ending.removeEventListener('abort', kill);
  return !ending.aborted;
}

const ARGUMENTS = [
  '--no-config',
  '--files',
  '--null',
  '--hidden',
  '--follow',
  '--no-messages',
  ...VERSION_CONTROL.flatMap((name) => ['--glob', `!${name}`]),
];

/** The program that npm has installed for this platform. The package's own module cannot be loaded with `require` by all Nodes. */
function program(): string {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('@vscode/ripgrep'));
  return resolve(`@vscode/ripgrep-${platform()}-${arch()}/bin/rg`);
}
