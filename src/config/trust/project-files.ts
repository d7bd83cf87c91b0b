import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { FileTooLargeError } from '../../base/files/open-regular-file.ts';
import { readRegularFileSync } from '../../base/files/read-regular-file.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { roleFileNames } from '../agents/role-file-names.ts';
import { CONFIG_BYTES_MAX } from '../layers/layer.ts';
import { projectFolders } from '../layers/project-folders.ts';
import { linkedWorktrees, mainCheckout } from './linked-worktrees.ts';
import { movedTo, type ProjectTrust, projectTrust } from './project-trust.ts';
import {
  nearestEntry,
  type ResolvedEntry,
  resolveEntries,
  resolveEntry,
  type TrustEntry,
  trustEntries,
} from './trust-entries.ts';
import { contentHash, type TrustRecord } from './trust-record.ts';
import { TrustError, type TrustedFiles } from './trusted-files.ts';

/** The folder in a folder of a project that has these files. */
const OWN_FOLDER = '.codex';

/** The path of the file with the hooks of a project, relative to its root. */
export const PROJECT_HOOKS = join(OWN_FOLDER, 'hooks.json');

/**
 * The files of a folder of a project that set, start or loosen anything, by their kinds. They are
 * in force only with the content that the user trusts. Code that uses another such file lists it
 * here, and reads it with `projectFiles` only.
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
type ProjectFileKind = 'settings' | 'hooks' | 'role' | 'hookSettings';

/** The largest file that sets hooks or a role. Larger ones are not used. */
export const FILE_BYTES_MAX = 1024 * 1024;

/** A content that the user can trust, with `TrustedFiles.trust`. */
export interface OfferedContent {
  /** The trusted folder, as `[projects]` names it. */
  entry: string;
  /** The path of the file, relative to that folder. */
  relativePath: string;
  bytes: Buffer;
  hash: string;
  /** Whether the user has trusted earlier content of the file. */
  isChanged: boolean;
}

/** A file of a project. Only one that is in force may have any effect, with exactly these bytes. */
export type ProjectFile = {
  kind: ProjectFileKind;
  /** The folder of the project that the file is for. */
  folder: string;
  path: string;
  /**
   * Whether the folder is trusted as a part of a linked worktree. Then the hooks in the file itself
   * do not count, unless it is a `hookSettings`.
   */
  isLinked: boolean;
} & (
  | { isInForce: true; bytes: Buffer }
  | {
      isInForce: false;
      reason: string;
      /** Whether the user trusts the folder, and so may expect the file to be in force. */
      isFolderTrusted: boolean;
      /** Null if the user has to do something else first. */
      offered: OfferedContent | null;
    }
);

interface ProjectOptions {
  cwd: string;
  home: string;
  /** The user's own config.toml. */
  user: JsonObject;
}

/** The files of a project, and the trust in the folder that a thread works in. */
interface Project {
  files: ProjectFile[];
  trust: ProjectTrust;
}

/**
 * Reads the files of the project that `cwd` is in, from its root down to `cwd`, outermost first,
 * each once. If heddle sees a trusted folder for the first time, wherever it is, the files in it
 * and in its linked worktrees are recorded as they are. After that, a file that is new or has
 * changed is not in force before the user trusts it. In a linked worktree, the entries for its main
 * checkout count where it has none, and the hooks of the main checkout in place of its own. Lets
 * other work run in between.
 */
export async function readProject(
  { cwd, home, user }: ProjectOptions,
  trustedFiles: TrustedFiles,
  breaks = new EventLoopYield(),
): Promise<Project> {
  const { root, folders } = projectFolders(cwd);
  const entries = trustEntries(user);
  const resolved = await resolveEntries(entries, breaks);
  const main = entries.length === 0 ? null : await mainCheckout(root);
  const entryOf = (folder: string) => decidingEntry(folder, { root, main, resolved });
  const found = folders.flatMap((folder) => findIn(folder, { root, home, entryOf }));
  const record = await recordOf({ entries, found, home }, { trustedFiles, breaks });
  const trust = projectTrust(
    entryOf(folders.at(-1) ?? root)?.entry ?? null,
    record instanceof TrustError ? null : record,
  );
  return { files: found.map((file) => judge(file, record)), trust };
}

/** The files of `readProject`. */
export async function projectFiles(
  options: ProjectOptions,
  trustedFiles: TrustedFiles,
): Promise<ProjectFile[]> {
  return (await readProject(options, trustedFiles)).files;
}

/**
 * The entry that decides about a folder, and where the folder lies in the main checkout if the
 * entry is for that.
 */
interface Deciding {
  entry: ResolvedEntry;
  inMain: { folder: string; root: string } | null;
}

function decidingEntry(
  folder: string,
  {
    root,
    main,
    resolved,
  }: { root: string; main: string | null; resolved: readonly ResolvedEntry[] },
): Deciding | null {
  const own = nearestEntry(folder, root, resolved);
  if (own !== null) return { entry: own, inMain: null };
  if (main === null) return null;
  const inMain = { folder: join(main, relative(root, folder)), root: main };
  const entry = nearestEntry(inMain.folder, main, resolved);
  return entry === null ? null : { entry, inMain };
}

interface FoundFile {
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
  entryOf: (folder: string) => Deciding | null;
}

function findIn(folder: string, { root, home, entryOf }: Place): FoundFile[] {
  const deciding = entryOf(folder);
  const { entry = null, inMain = null } = deciding ?? {};
  const inFolder = namesIn(folder).flatMap(({ kind, name }): FoundFile[] => {
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
  file: Omit<FoundFile, 'path' | 'content'>,
  { root, home }: Pick<Place, 'root' | 'home'>,
): FoundFile[] {
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
        : { problem: untrusted(file.folder) },
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
  { root, kind }: Pick<Place, 'root'> & Pick<FoundFile, 'kind'>,
): FoundFile['content'] {
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

/**
 * Resolves with the record, with the folders that heddle sees for the first time, or why it cannot
 * be read.
 */
async function recordOf(
  {
    entries,
    found,
    home,
  }: { entries: readonly TrustEntry[]; found: readonly FoundFile[]; home: string },
  { trustedFiles, breaks }: { trustedFiles: TrustedFiles; breaks: EventLoopYield },
): Promise<TrustRecord | TrustError> {
  const trusted = entries.filter(({ level }) => level === 'trusted');
  if (trusted.length === 0) return new Map();
  try {
    const record = trustedFiles.read();
    const unseen = trusted.filter(({ path }) => !record.has(path));
    if (unseen.length === 0) return record;
    // All of them, not only those of this project: a command that works elsewhere could write into
    // the others.
    const lines: Parameters<TrustedFiles['recordFirst']>[0][number][] = [];
    for (const entry of unseen) {
      const { path } = entry;
      const resolved = resolveEntry(entry);
      const onTheWay = found.filter((file) => file.entry?.path === path);
      const inWorktrees = await worktreeFiles(resolved, home);
      lines.push({
        folder: path,
        ...movedTo(resolved),
        files: hashes([...ownFiles(resolved, home), ...inWorktrees, ...onTheWay]),
      });
      await breaks.worked(1 + inWorktrees.length);
    }
    trustedFiles.recordFirst(lines);
    await breaks.worked(lines.length);
    return trustedFiles.read();
  } catch (error) {
    if (error instanceof TrustError) return error;
    throw error;
  }
}

/** The files in the trusted folder itself. */
function ownFiles(entry: ResolvedEntry, home: string): FoundFile[] {
  if (!hasFiles(entry.folder)) return [];
  return findIn(entry.folder, {
    root: projectFolders(entry.folder).root,
    home,
    entryOf: () => ({ entry, inMain: null }),
  });
}

/** The files in the roots of the linked worktrees of the trusted folder. */
async function worktreeFiles(entry: ResolvedEntry, home: string): Promise<FoundFile[]> {
  const inMain = { folder: entry.folder, root: entry.folder };
  const roots = (await linkedWorktrees(entry.folder)).filter(hasFiles);
  return roots.flatMap((root) => findIn(root, { root, home, entryOf: () => ({ entry, inMain }) }));
}

function hasFiles(folder: string): boolean {
  return namesIn(folder).some(({ name }) => existsSync(join(folder, OWN_FOLDER, name)));
}

function hashes(files: readonly FoundFile[]): Record<string, string> {
  return Object.fromEntries(
    files.flatMap((file) =>
      'hash' in file.content ? [[relativePath(file), file.content.hash]] : [],
    ),
  );
}

function relativePath({ entry, path }: FoundFile): string {
  return entry === null ? path : relative(entry.folder, path);
}

function judge(file: FoundFile, record: TrustRecord | TrustError): ProjectFile {
  const { kind, folder, path, entry, content, isLinked, inMain } = file;
  const isFolderTrusted = entry?.level === 'trusted';
  const refused = { kind, folder, path, isLinked, isInForce: false as const, isFolderTrusted };
  if (entry === null || 'problem' in content) {
    return {
      ...refused,
      reason: 'problem' in content ? content.problem : untrusted(folder),
      offered: null,
    };
  }
  if (record instanceof TrustError)
    return { ...refused, reason: `${path} is not in force: ${record.message}`, offered: null };
  const { bytes, hash } = content;
  const trusted = record.get(entry.path)?.files;
  const known = trusted?.get(relativePath(file));
  const knownInMain = inMain === null ? undefined : trusted?.get(relative(entry.folder, inMain));
  if (known === hash || knownInMain === hash)
    return { kind, folder, path, isLinked, isInForce: true, bytes };
  const isChanged = (known ?? knownInMain) !== undefined;
  return {
    ...refused,
    reason: notTrusted({ path, folder, isChanged }),
    offered: { entry: entry.path, relativePath: relativePath(file), bytes, hash, isChanged },
  };
}

function untrusted(folder: string): string {
  return `${folder} is not trusted. To trust it, set trust_level = "trusted" under [projects.${JSON.stringify(folder)}] in the config.toml in your heddle home`;
}

/**
 * The text does not put the folder into the command line, because the name of a folder could
 * contain a command.
 */
function notTrusted({
  path,
  folder,
  isChanged,
}: {
  path: string;
  folder: string;
  isChanged: boolean;
}): string {
  const why = isChanged
    ? 'its content has changed since you trusted it'
    : 'you have not trusted its content yet';
  return `${path} is not in force: ${why}. To read it and trust it, run \`heddle trust\` in ${folder}`;
}
