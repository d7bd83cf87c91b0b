import type { ParsedCommand } from '../parse/parse-command.ts';
import { gitDoubt } from './git-doubt.ts';
import { isChangeable } from './is-changeable.ts';
import { possibleFolders, possiblePaths } from './named-paths.ts';
import { type GitUse, plainGit, UNKNOWN_USE } from './plain-git.ts';
import { type ProgramKind, programKind } from './program-kind.ts';
import type { RepositoryFacts } from './repository-facts.ts';

/** The files that decide whether a rule may let a command leave the sandbox. */
export interface LeavingFacts {
  /** The folders that commands of the thread can write, without links. */
  roots: readonly string[];
  /** The real paths of the paths that the command or the settings of its repositories name. */
  realPaths: ReadonlyMap<string, string>;
  /** The repository that git finds from each folder that the command may work in. */
  repositories: ReadonlyMap<string, RepositoryFacts | null>;
  /**
   * Whether the command uses git, but git's settings of the user or the machine cannot be read
   * completely.
   */
  hasUnreadSettings: boolean;
  /** A variable that makes git or `cd` use other folders. Null: there is none. */
  variable: string | null;
}

/**
 * Returns the reason why a command outside the sandbox may run code that sandboxed commands can
 * change. Returns null if it does not: each of its programs is known not to run files as code, or
 * works in places that commands cannot change. The names of its programs must be trusted
 * (`trustsNames`).
 */
export function leavingDoubt(
  { commands }: ParsedCommand,
  cwd: string,
  facts: LeavingFacts,
): string | null {
  if (commands === null) return 'the command is not understood';
  if (facts.variable !== null) return `the variable ${facts.variable} changes what it uses`;
  if (facts.hasUnreadSettings)
    return 'the git settings of the user or the machine cannot be read completely';
  const folders = possibleFolders(commands, [cwd, facts.realPaths.get(cwd) ?? cwd]);
  const kinds = commands.map(({ words }) => programKind(words));
  const uses = commands.map(({ words }, index) =>
    kinds[index] === 'git' ? (plainGit(words.slice(1)) ?? UNKNOWN_USE) : null,
  );
  // A program that is not known may get its code from any other one of the line, through a pipe or
  // a file.
  const mayRunAll = kinds.includes('unknown');
  const doubts = commands.map(({ words }, index) => {
    const here = folders[index] ?? null;
    if (here === null) return 'the folder that it works in is not certain';
    const kind = mayRunAll ? 'unknown' : (kinds[index] ?? 'unknown');
    const changeable = changeablePath(kind, { words, folders: here }, facts);
    if (changeable !== null) return `${words[0]} may use ${changeable}, which commands can change`;
    const use = uses[index] ?? null;
    if (use === null) return null;
    const earlier = commands
      .slice(0, index)
      .map((command, at) => ({ ...command, use: uses[at] ?? null }));
    return submoduleDoubt(use, earlier) ?? repositoryDoubt(use, here, facts);
  });
  return doubts.find((doubt) => doubt !== null) ?? null;
}

/**
 * Returns a path that commands can change and that counts for this kind of program. Returns null if
 * there is none.
 */
function changeablePath(
  kind: ProgramKind,
  { words, folders }: { words: readonly string[]; folders: readonly string[] },
  { realPaths, roots }: LeavingFacts,
): string | null {
  const used: Record<ProgramKind, () => readonly string[]> = {
    looks: () => [],
    git: () => [],
    writes: () =>
      possiblePaths(
        words.slice(1).filter((word) => !word.startsWith('-')),
        folders,
      ),
    unknown: () => [...folders, ...possiblePaths(words, folders)],
  };
  const isCertain = (path: string) => {
    const real = realPaths.get(path);
    return real !== undefined && !isChangeable(real, roots);
  };
  return used[kind]().find((path) => !isCertain(path)) ?? null;
}

/** Commands that end immediately. */
const QUICK: ReadonlySet<string> = new Set(['cd', 'echo', 'printf', 'pwd', 'true']);

/**
 * Returns the reason why git may enter a repository that commands have made, although the index has
 * no submodules yet: an earlier command of the line may add the submodule, or may wait until
 * another line has added it.
 */
function submoduleDoubt(
  use: GitUse,
  earlier: readonly { words: readonly string[]; use: GitUse | null }[],
): string | null {
  const slow = earlier.filter(({ words }) => !QUICK.has(words[0] ?? ''));
  const isSafe = use.entersSubmodules
    ? slow.length === 0
    : !use.commits || slow.every((one) => one.use !== null && !one.use.commits);
  return isSafe ? null : 'git may enter a submodule that is added while the line runs';
}

function repositoryDoubt(
  use: GitUse,
  folders: readonly string[],
  facts: LeavingFacts,
): string | null {
  for (const folder of folders) {
    const real = facts.realPaths.get(folder);
    if (real === undefined) return `${folder} cannot be looked at`;
    const doubt = gitDoubt(use, {
      ...facts,
      folder: real,
      repository: facts.repositories.get(folder) ?? null,
    });
    if (doubt !== null) return doubt;
  }
  return null;
}
