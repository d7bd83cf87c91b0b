import type { Clock } from '../../../base/clock.ts';
import { type Env, setVariables } from '../../../base/env.ts';
import { isFolder } from '../../../base/paths/is-folder.ts';
import { programName } from '../../../policy/parse/program-name.ts';
import type { Processes } from '../../../sandbox/processes/processes.ts';
import { runProgram } from '../../../sandbox/run-program.ts';
import { userShell } from '../call/user-shell.ts';
import { exportedVariables } from './exported-variables.ts';

/** How long the start files of a shell may take. */
const SNAPSHOT_SECONDS_MAX = 10;
/** The owner of the shell's processes. */
const OWNER = ['shell-snapshot'];

/** Passes on only what is written to descriptors 7 and 8, so what start files print is dropped. */
const QUIET = 'exec 7>&1 8>&1 >/dev/null 2>&1; exec "$@"';
/**
 * If the descriptors are not the same any more, a start file has opened a file of its own by one,
 * to which no variable must be written. An alias or a function of the user does not replace these
 * words.
 */
const READ = '\\builtin test /dev/fd/7 -ef /dev/fd/8 && \\builtin exec /usr/bin/env -0 >&8';
const READ_PLAIN = READ.replaceAll('\\builtin ', '');

export interface SnapshotServices {
  processes: Processes;
  clock: Clock;
  /** The server's own environment. */
  env: Env;
}

/**
 * The variables that the user's shell exports beyond the server's environment, and how long it
 * took; or why that is not known.
 */
export type Snapshot =
  | { variables: Readonly<Record<string, string>>; ms: number }
  | { problem: string };

/**
 * Starts the user's shell as a login shell and as an interactive one, and reads the variables that
 * its start files export. The shell runs outside the sandbox, and is refused if commands may have
 * written its start files. No process of it is left. Rejects only if the server itself fails.
 */
export async function takeSnapshot(
  { processes, clock, env }: SnapshotServices,
  signal: AbortSignal,
): Promise<Snapshot> {
  const { HOME: home = '' } = env;
  if (!isFolder(home)) return { problem: 'HOME is not a folder' };
  const shell = userShell(env);
  const startedMs = clock.monotonic();
  const own = Object.fromEntries(
    Object.entries(setVariables(env)).filter(([name]) => !name.startsWith('HEDDLE_')),
  );
  const program = {
    ...{
      argv: ['/bin/sh', '-c', QUIET, 'sh', ...readingArgv(shell)],
      startedAs: [shell, '-lic', ''],
      readsOn: true,
    },
    ...{
      cwd: home,
      env: own,
      input: [],
      timeoutSec: SNAPSHOT_SECONDS_MAX,
      owner: OWNER,
      of: `the start of ${shell}`,
    },
  };
  const result = await runProgram(program, { processes, clock }, signal);
  await processes.killOwned(OWNER);
  if ('failure' in result) return { problem: result.failure };
  if (result.exitCode !== 0 || !result.stdout.endsWith('\0')) {
    return {
      problem: `a start file of ${shell} ended it, replaced it or used its descriptors 7 and 8 (exit code ${result.exitCode})`,
    };
  }
  const variables = result.isCut ? 'tooMany' : exportedVariables(result.stdout, env);
  return variables === 'tooMany'
    ? { problem: 'it exports too much' }
    : { variables, ms: Math.round(clock.monotonic() - startedMs) };
}

/**
 * Reads the files of a login, and those of a terminal, which may contain what only interactive
 * shells do.
 */
function readingArgv(shell: string): string[] {
  switch (programName(shell)) {
    case 'bash':
      return [shell, '-lc', 'exec "$0" -ic "$1"', shell, READ];
    case 'zsh':
      return [shell, '-lic', READ];
    default:
      return [shell, '-lc', READ_PLAIN];
  }
}
