import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readRegularFile } from '../../../base/files/read-regular-file.ts';
import { foldersAbove } from '../../../base/paths/folders-above.ts';
import { resolveLinks } from '../../../base/paths/follow-path.ts';
import { isAbsent, systemErrorCode } from '../../../base/system-error-code.ts';
import { locateFile, pathOf } from '../../../files/file-location.ts';
import {
  type NamedPaths,
  namedPaths,
  type PinnedCommand,
} from '../../../policy/outside/named-paths.ts';
import { gitDependencies } from './git-dependencies.ts';
import { reachedFiles } from './reached-files.ts';

/** A command without the real path of its working directory, which is resolved each time. */
export type UnresolvedCommand = Omit<PinnedCommand, 'realCwd'>;

/** The state of every place that a command depends on, by its path. */
export type CommandIdentity = ReadonlyMap<string, string>;

/** The number of files that are examined at the same time. */
const BATCH = 16;
/** The content of smaller files is compared, too. To hash one takes about 1 ms. */
const CONTENT_BYTES_MAX = 512 * 1024;
/** The content of so many files is compared, too. */
const CONTENTS_MAX = 64;
/** Words that may be the names of programs in the folders of a project. */
const PROGRAM_WORDS_MAX = 64;

/**
 * Returns the state of the places that a command depends on: its working directory, the files that
 * it names, and the files that well-known programs read as code. Code is identified by device,
 * inode, size and time of change, small files of the user also by their content, because a file
 * that is mapped into memory can change without these. Folders are identified by device and inode,
 * and data by the place that its path leads to. Returns null if the command depends on too many
 * places, on some that cannot be read, or on some that it does not name in full.
 */
export async function commandIdentity(command: UnresolvedCommand): Promise<CommandIdentity | null> {
  const named = namedPaths({ ...command, realCwd: resolveLinks(command.cwd) });
  if (named === null || !named.areAll) return null;
  const { code, content, data, words, usesGit } = named;
  const reached =
    words.size === 0
      ? { folders: [], files: [] }
      : await reachedFiles({ starts: [command.cwd], ...named });
  if (reached === null) return null;
  const folders = [...new Set([...named.folders, ...reached.folders])];
  const implied = folders.map((folder) => impliedFiles(folder, named));
  const repositories = usesGit
    ? await Promise.all(folders.map((folder) => gitDependencies(folder, command.env)))
    : [];
  if (implied.includes(null) || repositories.includes(null)) return null;
  const states = new Map<string, string>();
  const look = async (
    paths: Iterable<string>,
    stateOf: (path: string) => Promise<string | null>,
  ) => {
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
  const contents = new Contents();
  const codeState = async (path: string) => (await entryState(path, contents))?.state ?? null;
  await look(data, placeState);
  await look(content, async (path) => fileOnly(await entryState(path, contents)));
  await look(
    [
      ...code,
      ...reached.files,
      ...implied.flatMap((paths) => paths ?? []),
      ...repositories.flatMap((places) => places ?? []),
    ],
    codeState,
  );
  await contents.addTo(states);
  return states;
}

/**
 * Returns the real path of a path, which need not exist. Returns the code of the system's error if
 * it cannot be resolved.
 */
async function placeState(path: string): Promise<string> {
  try {
    return pathOf(await locateFile(path));
  } catch (error) {
    return unseen(error);
  }
}

interface EntryState {
  state: string;
  isFolder: boolean;
}

/**
 * Returns the identity of the file or folder at a path, or the code of the system's error. Null:
 * nothing is there.
 */
async function entryState(path: string, contents: Contents): Promise<EntryState | null> {
  try {
    const location = await locateFile(path);
    const { found } = location;
    if (found === null) return null;
    const { dev, ino, size, ctimeNs } = found;
    if (found.isDirectory()) return { state: `${dev}:${ino}`, isFolder: true };
    if (found.isFile() && size <= CONTENT_BYTES_MAX)
      contents.note(path, { realPath: pathOf(location), file: `${dev}:${ino}` });
    return { state: `${dev}:${ino}:${size}:${ctimeNs}`, isFolder: false };
  } catch (error) {
    return isAbsent(error) ? null : { state: unseen(error), isFolder: false };
  }
}

/** Folders have no content of their own. */
function fileOnly(entry: EntryState | null): string | null {
  return entry === null || entry.isFolder ? null : entry.state;
}

/** A file whose content is compared. */
interface SmallFile {
  realPath: string;
  /** Its device and inode: several paths may lead to it. */
  file: string;
}

/**
 * The small files of a command. Their contents are read when all are known, so that the same ones
 * are read each time.
 */
class Contents {
  readonly #files = new Map<string, SmallFile>();

  note(path: string, file: SmallFile): void {
    this.#files.set(path, file);
  }

  /**
   * Adds the hashes of the contents to the states of their paths. Beyond the limit, the first files
   * by path count.
   */
  async addTo(states: Map<string, string>): Promise<void> {
    const paths = [...this.#files.keys()].sort();
    const realPaths = new Map<string, string>();
    for (const { realPath, file } of paths.flatMap((path) => this.#files.get(path) ?? [])) {
      if (realPaths.size < CONTENTS_MAX && !realPaths.has(file)) realPaths.set(file, realPath);
    }
    const hashes = new Map<string, string>();
    const chosen = [...realPaths];
    for (let at = 0; at < chosen.length; at += BATCH) {
      await Promise.all(
        chosen
          .slice(at, at + BATCH)
          .map(async ([file, realPath]) => hashes.set(file, await hashOf(realPath))),
      );
    }
    for (const [path, { file }] of this.#files) {
      const state = states.get(path);
      if (state !== undefined) states.set(path, state + (hashes.get(file) ?? ''));
    }
  }
}

/** Returns a colon and the hash of a file's content, or nothing if it cannot be read. */
async function hashOf(path: string): Promise<string> {
  try {
    const content = await readRegularFile(path, { bytesMax: CONTENT_BYTES_MAX });
    return content === null
      ? ''
      : `:${createHash('sha256').update(content.bytes).digest('base64')}`;
  } catch {
    return '';
  }
}

function unseen(error: unknown): string {
  const code = systemErrorCode(error);
  if (code === null) throw error;
  return code;
}

/**
 * The files that programs read from a folder and those above it without being told. Null: it is too
 * deep.
 */
function impliedFiles(
  folder: string,
  { sought, words, programFolders }: NamedPaths,
): string[] | null {
  if (sought.size === 0 && programFolders.size === 0) return [];
  const programs = [...words].filter((word) => !/[/\0]/.test(word)).slice(0, PROGRAM_WORDS_MAX);
  const names = [
    ...sought,
    ...[...programFolders].flatMap((place) => programs.map((program) => join(place, program))),
  ];
  return foldersAbove(folder)?.flatMap((above) => names.map((name) => join(above, name))) ?? null;
}
