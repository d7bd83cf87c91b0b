import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileTooLargeError } from '../../base/files/open-regular-file.ts';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { CONFIG_BYTES_MAX } from '../layers/layer.ts';
import { roleFileNames } from './role-file-names.ts';
import type { ResolvedEntry } from './trust-entries.ts';
import { contentHash } from './trust-record.ts';

/** The folder in a folder of a project that has these files. */
const OWN_FOLDER = '.codex';

/** The path of the file with the hooks of a project, relative to its root. */
export const PROJECT_HOOKS = join(OWN_FOLDER, 'hooks.json');

/**
 * The files of a folder of a project that set, start or loosen anything, by their kinds. They are
 * in force only with the content that the user trusts. Code that uses another such file lists it
 * here, and reads it with `judgeProjectFiles` only.
 */
const TRUST_BOUND_FILES: readonly {
  kind: ProjectFileKind;
  namesIn: (folder: string) => string[];
}[] = [
  { kind: 'settings', namesIn: () => ['config.toml'] },
  { kind: 'hooks', namesIn: () => ['hooks.json'] },
  { kind: 'role', namesIn: (folder) => roleFileNames(folder).map((name) => `agents/${name}`) },
];

/**
 * `settings`: a config.toml. `hooks`: a hooks.json. `role`: the role of agents. `hookSettings`: the
 * config.toml of a main checkout, whose hooks count in a linked worktree.
 */
export type ProjectFileKind = 'settings' | 'hooks' | 'role' | 'hookSettings';

/** The largest file that sets hooks or a role. Larger ones are not used. */
export const FILE_BYTES_MAX = 1024 * 1024;

/**
 * The entry that decides about a folder, and where the folder lies in the main checkout if the
 * entry is for that.
 */
export interface DecidingEntry {
  entry: ResolvedEntry;
  inMain: { folder: string; root: string } | null;
}

/** A file of a project, with its bytes only if the user trusts the folder. */
export interface FoundProjectFile {
  kind: ProjectFileKind;
  folder: string;
  path: string;
  entry: ResolvedEntry | null;
  isLinked: boolean;
  /**
   * The path at which the main checkout of a linked worktree has this file. The content that the
   * user trusts there is trusted here.
   */
  inMain: string | null;
  /** The bytes, or why there are none. */
  content: { bytes: Buffer; hash: string } | { problem: string };
}

interface Place {
  root: string;
  home: string;
  entryOf: (folder: string) => DecidingEntry | null;
}

/**
 * Returns the files of one folder of a project. `entryOf`: the entry that decides about a folder;
 * null: none does. In a linked worktree, also those of the main checkout.
 */
export function findProjectFiles(
  folder: string,
  { root, home, entryOf }: Place,
): FoundProjectFile[] {
  const deciding = entryOf(folder);
  const { entry = null, inMain = null } = deciding ?? {};
  const inFolder = namesIn(folder).flatMap(({ kind, name }): FoundProjectFile[] => {
    // Commands may write in a worktree before the user has looked at it, so it cannot say what runs
    // outside the sandbox.
    if (inMain !== null && kind === 'hooks') return [];
    const same = inMain === null ? null : join(inMain.folder, OWN_FOLDER, name);
    return foundIn(
      folder,
      name,
      { kind, folder, entry, isLinked: inMain !== null, inMain: same },
      { root, home },
    );
  });
  if (inMain === null) return inFolder;
  const ofMain = { folder, entry, isLinked: true, inMain: null };
  return [
    ...inFolder,
    ...foundIn(
      inMain.folder,
      'config.toml',
      { ...ofMain, kind: 'hookSettings' },
      { root: inMain.root, home },
    ),
    ...foundIn(
      inMain.folder,
      'hooks.json',
      { ...ofMain, kind: 'hooks' },
      { root: inMain.root, home },
    ),
  ];
}

/** The file with a name in the `.codex` of a folder; none if there is none. */
function foundIn(
  place: string,
  name: string,
  file: Omit<FoundProjectFile, 'path' | 'content'>,
  { root, home }: Pick<Place, 'root' | 'home'>,
): FoundProjectFile[] {
  const path = join(place, OWN_FOLDER, name);
  // The home can be the `.codex` of a folder. Its files are the user's own.
  if (!existsSync(path) || realPathOrSame(path) === realPathOrSame(join(home, name))) return [];
  const isTrusted = file.entry?.level === 'trusted';
  return [
    {
      ...file,
      path,
      content: isTrusted
        ? read(path, { root, kind: file.kind })
        : { problem: untrustedFolder(file.folder) },
    },
  ];
}

function namesIn(folder: string): { kind: ProjectFileKind; name: string }[] {
  return TRUST_BOUND_FILES.flatMap(({ kind, namesIn }) =>
    namesIn(join(folder, OWN_FOLDER)).map((name) => ({ kind, name })),
  );
}

function read(
  path: string,
  { root, kind }: Pick<Place, 'root'> & Pick<FoundProjectFile, 'kind'>,
): FoundProjectFile['content'] {
  const bytesMax = kind === 'hooks' || kind === 'role' ? FILE_BYTES_MAX : CONFIG_BYTES_MAX;
  if (!isBelow(realPathOrSame(path), root))
    return { problem: `${path} is a symbolic link that leads out of the project` };
  try {
    const file = readRegularFileSync(path, { bytesMax, mayLieAt: (real) => isBelow(real, root) });
    if (file === null) return { problem: `${path} has been removed` };
    return { bytes: file.bytes, hash: contentHash(file.bytes) };
  } catch (error) {
    if (error instanceof FileTooLargeError)
      return { problem: `${path} is larger than ${bytesMax} bytes` };
    return {
      problem: `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Whether a folder has such files. */
export function hasProjectFiles(folder: string): boolean {
  return namesIn(folder).some(({ name }) => existsSync(join(folder, OWN_FOLDER, name)));
}

/** Why no file of a folder is in force. */
export function untrustedFolder(folder: string): string {
  return `${folder} is not trusted. To trust it, set trust_level = "trusted" under [projects.${JSON.stringify(folder)}] in the config.toml in your heddle home`;
}
