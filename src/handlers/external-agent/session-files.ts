import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { inSlices, slicesOf } from '../../base/in-slices.ts';
import { isFolder } from '../../base/paths/is-folder.ts';
import { isBelow } from '../../base/paths/is-within.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { SourceError } from './found.ts';
import { listSource } from './read-source.ts';

/** The largest session that is taken. Its file is in memory while it is read. */
const SESSION_BYTES_MAX = 64 * 1024 * 1024;
const PROJECTS_MAX = 2_000;
const FILES_MAX = 5_000;
const FILES_IN_ALL_MAX = 20_000;
const HASH_BYTES = 256 * 1024;
/** The files of sub-agents, whose messages are parts of other sessions. */
const NOT_SESSION = /^agent-/;

/** The path of a session, and when its file last changed, in Unix milliseconds. */
export interface SessionFile {
  path: string;
  modifiedAtMs: number;
}

/** The contents of a session, and their hash in hexadecimal. */
export interface SessionBytes {
  bytes: Buffer;
  sha256: string;
}

/**
 * The files with sessions in the folder `projects` of the other agent, the latest first. Links are
 * none.
 */
export async function sessionFiles(projects: string): Promise<SessionFile[]> {
  if (!isFolder(projects)) return [];
  const { entries } = await listSource(projects, PROJECTS_MAX);
  const found: SessionFile[] = [];
  for (const folder of entries.filter((entry) => entry.isDirectory())) {
    const { entries: files } = await listSource(join(projects, folder.name), FILES_MAX).catch(
      unlessUnreadable,
    );
    for (const file of files) {
      if (!file.isFile() || !isSessionName(file.name)) continue;
      const path = join(projects, folder.name, file.name);
      const stats = await stat(path).catch(() => null);
      if (stats !== null) found.push({ path, modifiedAtMs: stats.mtimeMs });
      if (found.length === FILES_IN_ALL_MAX) return latestFirst(found);
    }
  }
  return latestFirst(found);
}

function latestFirst(files: SessionFile[]): SessionFile[] {
  return files.sort((one, other) => (one.modifiedAtMs > other.modifiedAtMs ? -1 : 1));
}

/**
 * The file of a session at a path that a client names. Rejects with a SourceError if there is none.
 */
export async function sessionFileAt(path: string, projects: string): Promise<SessionFile> {
  const real = realPathOrSame(path);
  if (!isBelow(real, realPathOrSame(projects)))
    throw new SourceError(`${path} is not in ${projects}`);
  if (!isSessionName(basename(real))) throw new SourceError(`${path} is not the file of a session`);
  const stats = await stat(real).catch(() => null);
  if (stats === null) throw new SourceError(`${path} is not there`);
  return { path: real, modifiedAtMs: stats.mtimeMs };
}

/**
 * Reads a session. Rejects with a SourceError if it cannot be read, or does not lie in `projects`.
 * Lets other work run in between.
 */
export async function readSessionFile(
  { path }: SessionFile,
  projects: string,
): Promise<SessionBytes> {
  const real = realPathOrSame(projects);
  try {
    const file = await readRegularFile(path, {
      bytesMax: SESSION_BYTES_MAX,
      followLinks: false,
      mayLieAt: (found) => isBelow(found, real),
    });
    if (file === null) throw new Error('it is not there any more');
    const hash = createHash('sha256');
    for await (const piece of inSlices(slicesOf(file.bytes, HASH_BYTES), 1)) hash.update(piece);
    return { bytes: file.bytes, sha256: hash.digest('hex') };
  } catch (error) {
    throw new SourceError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

function isSessionName(name: string): boolean {
  return name.endsWith('.jsonl') && !NOT_SESSION.test(name);
}

function unlessUnreadable(error: unknown): { entries: never[] } {
  if (error instanceof SourceError) return { entries: [] };
  throw error;
}
