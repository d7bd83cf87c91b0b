import { EventLoopYield } from '../../../base/event-loop-yield.ts';
import { inSlices } from '../../../base/in-slices.ts';
import { followPath, resolveLinks } from '../../../base/paths/follow-path.ts';
import { isWithin } from '../../../base/paths/is-within.ts';
import { systemErrorCode } from '../../../base/system-error-code.ts';
import { localPath } from '../../../policy/outside/git-doubt.ts';
import type { LeavingFacts } from '../../../policy/outside/leaving-doubt.ts';
import { PATHS_MAX, possibleFolders, possiblePaths } from '../../../policy/outside/named-paths.ts';
import { programKind } from '../../../policy/outside/program-kind.ts';
import type { RepositoryFacts } from '../../../policy/outside/repository-facts.ts';
import type { SimpleCommand } from '../../../policy/parse/simple-command.ts';
import { gitSettings, hooksPaths, userSettingsFiles } from './git-settings.ts';
import { repositoryFacts } from './repository-facts.ts';

/** The work of following a path, in the units of `EventLoopYield`. */
const PATH_UNITS = 50;
/** Variables of git that choose only names, texts and the user's own programs. */
const PLAIN_VARIABLES =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_\w+|ASKPASS|EDITOR|PAGER|SEQUENCE_EDITOR|SSH|SSH_COMMAND|SSH_VARIANT|TERMINAL_PROMPT|OPTIONAL_LOCKS)$/;

interface LeavingCommand {
  commands: readonly SimpleCommand[];
  /** The absolute path of the working directory. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The absolute paths of the folders that commands of the thread can write. */
  roots: readonly string[];
}

/**
 * Reads what `leavingDoubt` needs to know about the files of a command. Looks at files, and reads
 * only those of repositories and the user's settings of git. Returns null if the command names too
 * many places.
 */
export async function leavingFacts({
  commands,
  cwd,
  env,
  roots,
}: LeavingCommand): Promise<LeavingFacts | null> {
  const all = possibleFolders(commands, [cwd, resolveLinks(cwd)]);
  const folders = [...new Set(all.flatMap((some) => some ?? []))];
  const named = new Set([
    ...folders,
    ...commands.flatMap(({ words }, index) => possiblePaths(words, all[index] ?? [])),
  ]);
  if (named.size > PATHS_MAX) return null;
  const realPaths = new Map<string, string>();
  const realRoots = roots.map(resolveLinks);
  const breaks = new EventLoopYield();
  const resolveAll = async (paths: Iterable<string>) => {
    for await (const path of inSlices(paths, PATH_UNITS, breaks)) {
      const real = realPathOf(path, realRoots);
      if (real !== null) realPaths.set(path, real);
    }
  };
  await resolveAll(named);
  const repositories = new Map<string, RepositoryFacts | null>();
  const usesGit = commands.some(({ words }) => programKind(words) === 'git');
  const hooksFrom = usesGit ? await userHooks(env) : null;
  if (hooksFrom !== null) {
    for (const folder of folders)
      repositories.set(folder, await repositoryFacts(realPaths.get(folder) ?? folder, hooksFrom));
    await resolveAll([...repositories.values()].flatMap((repository) => localRemotes(repository)));
  }
  return {
    roots: realRoots,
    realPaths,
    repositories,
    hasUnreadSettings: usesGit && hooksFrom === null,
    variable: strangeVariable(env),
  };
}

/**
 * Returns a function that returns the folders of hooks that the settings of the machine and the
 * user name, for a working tree. Returns null if these settings are not certain.
 */
async function userHooks(
  env: LeavingCommand['env'],
): Promise<((root: string) => readonly string[]) | null> {
  const home = env.HOME ?? '';
  const settings = await gitSettings(userSettingsFiles(env), home);
  if (settings === null || hooksPaths(settings, { from: '/', home }) === null) return null;
  return (root) => hooksPaths(settings, { from: root, home }) ?? [];
}

function localRemotes(repository: RepositoryFacts | null): string[] {
  const addresses = (repository?.settings ?? [])
    .filter(({ section }) => section === 'remote')
    .map(({ value }) => localPath(value ?? ''));
  return addresses.filter((path) => path !== '');
}

/**
 * Returns the real path of a path, which need not exist. Null: commands can change a link in it, or
 * it cannot be resolved.
 */
function realPathOf(path: string, roots: readonly string[]): string | null {
  try {
    const { end, links, isComplete } = followPath(path);
    return !isComplete || links.some(({ link }) => roots.some((root) => isWithin(link, root)))
      ? null
      : end;
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return null;
  }
}

function strangeVariable(env: LeavingCommand['env']): string | null {
  const isStrange = (name: string) =>
    name === 'CDPATH' || (name.startsWith('GIT_') && !PLAIN_VARIABLES.test(name));
  return Object.keys(env).find(isStrange) ?? null;
}
