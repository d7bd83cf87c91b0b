import { join, relative } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import type { JsonObject } from '../../base/json-value.ts';
import {
  type DecidingEntry,
  type FoundProjectFile,
  findProjectFiles,
  hasProjectFiles,
  type ProjectFileKind,
  untrustedFolder,
} from './find-project-files.ts';
import { linkedWorktrees, mainCheckout } from './linked-worktrees.ts';
import { projectFolders } from './project-folders.ts';
import { movedTo, type ProjectTrust, projectTrust } from './project-trust.ts';
import {
  nearestEntry,
  type ResolvedEntry,
  resolveEntries,
  resolveEntry,
  type TrustEntry,
  trustEntries,
} from './trust-entries.ts';
import type { TrustRecord } from './trust-record.ts';
import { TrustError, type TrustRecordFile } from './trust-record-file.ts';

/** A content that the user can trust, with `TrustRecordFile.trust`. */
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
export async function judgeProjectFiles(
  { cwd, home, user }: ProjectOptions,
  trustedFiles: TrustRecordFile,
  breaks = new EventLoopYield(),
): Promise<Project> {
  const { root, folders } = projectFolders(cwd);
  const entries = trustEntries(user);
  const resolved = await resolveEntries(entries, breaks);
  const main = entries.length === 0 ? null : await mainCheckout(root);
  const entryOf = (folder: string) => decidingEntry(folder, { root, main, resolved });
  const found = folders.flatMap((folder) => findProjectFiles(folder, { root, home, entryOf }));
  const record = await recordOf({ entries, found, home }, { trustedFiles, breaks });
  const trust = projectTrust(
    entryOf(folders.at(-1) ?? root)?.entry ?? null,
    record instanceof TrustError ? null : record,
  );
  const files: ProjectFile[] = [];
  for await (const file of inSlices(found, 1, breaks)) files.push(judge(file, record));
  return { files, trust };
}

function decidingEntry(
  folder: string,
  {
    root,
    main,
    resolved,
  }: { root: string; main: string | null; resolved: readonly ResolvedEntry[] },
): DecidingEntry | null {
  const own = nearestEntry(folder, root, resolved);
  if (own !== null) return { entry: own, inMain: null };
  if (main === null) return null;
  const inMain = { folder: join(main, relative(root, folder)), root: main };
  const entry = nearestEntry(inMain.folder, main, resolved);
  return entry === null ? null : { entry, inMain };
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
  }: { entries: readonly TrustEntry[]; found: readonly FoundProjectFile[]; home: string },
  { trustedFiles, breaks }: { trustedFiles: TrustRecordFile; breaks: EventLoopYield },
): Promise<TrustRecord | TrustError> {
  const trusted = entries.filter(({ level }) => level === 'trusted');
  if (trusted.length === 0) return new Map();
  try {
    const record = trustedFiles.read();
    const unseen = trusted.filter(({ path }) => !record.has(path));
    if (unseen.length === 0) return record;
    // All of them, not only those of this project: a command that works elsewhere could write into
    // the others.
    const lines: Parameters<TrustRecordFile['recordFirst']>[0][number][] = [];
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
function ownFiles(entry: ResolvedEntry, home: string): FoundProjectFile[] {
  if (!hasProjectFiles(entry.folder)) return [];
  return findProjectFiles(entry.folder, {
    root: projectFolders(entry.folder).root,
    home,
    entryOf: () => ({ entry, inMain: null }),
  });
}

/** The files in the roots of the linked worktrees of the trusted folder. */
async function worktreeFiles(entry: ResolvedEntry, home: string): Promise<FoundProjectFile[]> {
  const inMain = { folder: entry.folder, root: entry.folder };
  const roots = (await linkedWorktrees(entry.folder)).filter(hasProjectFiles);
  return roots.flatMap((root) =>
    findProjectFiles(root, { root, home, entryOf: () => ({ entry, inMain }) }),
  );
}

function hashes(files: readonly FoundProjectFile[]): Record<string, string> {
  return Object.fromEntries(
    files.flatMap((file) =>
      'hash' in file.content ? [[relativePath(file), file.content.hash]] : [],
    ),
  );
}

function relativePath({ entry, path }: FoundProjectFile): string {
  return entry === null ? path : relative(entry.folder, path);
}

function judge(file: FoundProjectFile, record: TrustRecord | TrustError): ProjectFile {
  const { kind, folder, path, entry, content, isLinked, inMain } = file;
  const isFolderTrusted = entry?.level === 'trusted';
  const refused = { kind, folder, path, isLinked, isInForce: false as const, isFolderTrusted };
  if (entry === null || 'problem' in content) {
    return {
      ...refused,
      reason: 'problem' in content ? content.problem : untrustedFolder(folder),
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
