import { join } from 'node:path';
import { resolveLinks } from '../../../base/paths/follow-path.ts';
import { isAbsent, systemErrorCode } from '../../../base/system-error-code.ts';
import { locateFile, pathOf } from '../../../files/file-location.ts';
import { namedPaths, type PinnedCommand } from '../../../policy/outside/named-paths.ts';
import { foldersAbove } from './folders-above.ts';
import { gitDependencies } from './git-dependencies.ts';

/** A command without the real path of its working directory, which is resolved each time. */
export type UnresolvedCommand = Omit<PinnedCommand, 'realCwd'>;

/** The state of every place that a command depends on, by its path. */
export type CommandIdentity = ReadonlyMap<string, string>;

/** The state of a folder is its device and inode. */
const FOLDER_STATE_PARTS = 2;
/** The number of files that are examined at the same time. */
const BATCH = 16;

/**
 * Returns the state of the places that a command depends on: its working directory, the files that it names, and the files that
 * well-known programs read as code. Code is identified by device, inode, size and time of change, folders by device and inode, and
 * data by the place that its path leads to. Only looks at the files, and never opens them, except the settings of git. Returns null
 * if the command depends on too many places, on some that cannot be read, or on some that it does not name in full.
 */
export async function commandIdentity(command: UnresolvedCommand): Promise<CommandIdentity | null> {
  const named = namedPaths({ ...command, realCwd: resolveLinks(command.cwd) });
  if (named === null || !named.areAll) return null;
  const { code, content, data, sought, folders, usesGit } = named;
  const implied = await Promise.all(folders.map((folder) => soughtFiles(folder, sought)));
  const repositories = usesGit ? await Promise.all(folders.map((folder) => gitDependencies(folder, command.env))) : [];
  if (implied.includes(null) || repositories.includes(null)) return null;
  const states = new Map<string, string>();
  const look = async (paths: Iterable<string>, stateOf: (path: string) => Promise<string | null>) => {
    const all = [...new Set(paths)];
    for (let at = 0; at < all.length; at += BATCH) {
      await Promise.all(
        all.slice(at, at + BATCH).map(async (path) => {
          const state = await stateOf(path);
          if (state !== null) states.set(path, state);
        }),
      );
    }
  };
  await look(data, placeState);
  await look(content, fileState);
  await look([...code, ...implied.flatMap((paths) => paths ?? []), ...repositories.flatMap((places) => places ?? [])], codeState);
  return states;
}

/** Returns the real path of a path, which need not exist. Returns the code of the system's error if it cannot be resolved. */
async function placeState(path: string): Promise<string> {
  try {
    return pathOf(await locateFile(path));
  } catch (error) {
    return unseen(error);
  }
}

/** Returns the identity of the file or folder at a path, or the code of the system's error. Null: nothing is there. */
async function codeState(path: string): Promise<string | null> {
  try {
    const { found } = await locateFile(path);
    if (found === null) return null;
    const { dev, ino, size, ctimeNs } = found;
    return found.isDirectory() ? `${dev}:${ino}` : `${dev}:${ino}:${size}:${ctimeNs}`;
  } catch (error) {
    return isAbsent(error) ? null : unseen(error);
  }
}

/** The same for files only: folders have no content of their own. */
async function fileState(path: string): Promise<string | null> {
  const state = await codeState(path);
  return state !== null && state.split(':').length === FOLDER_STATE_PARTS ? null : state;
}

function unseen(error: unknown): string {
  const code = systemErrorCode(error);
  if (code === null) throw error;
  return code;
}

/** The files with these names in a folder, or in the nearest folder above it that has one of them. Null: it is too deep. */
async function soughtFiles(folder: string, names: ReadonlySet<string>): Promise<string[] | null> {
  if (names.size === 0) return [];
  const folders = foldersAbove(folder);
  if (folders === null) return null;
  for (const above of folders) {
    const paths = [...names].map((name) => join(above, name));
    const states = await Promise.all(paths.map(codeState));
    const found = paths.filter((_path, index) => states[index] !== null);
    if (found.length > 0) return found;
  }
  return [];
}
