import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { unlessUnseen } from '../paths/stat-of.ts';

// The kernel creates all files in /proc. They report no size, so the reader of regular files cannot
// read them.

/** A path in /proc. */
export type ProcPath = `/proc/${string}`;

/** The text of a file in /proc. Returns null if its process has ended, or if it may not be read. */
export function readProc(path: ProcPath, encoding: 'utf8' | 'latin1' = 'utf8'): string | null {
  return unlessUnseen(() => readFileSync(path, encoding));
}

/** As `readProc`, for a file that the system needs some time for. */
export async function readProcLater(path: ProcPath): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    return unlessUnseen(() => {
      throw error;
    });
  }
}

/** The target of a link in /proc. Throws the system's error, also if its process has ended. */
export function readProcLink(path: ProcPath): string {
  return readlinkSync(path);
}

/**
 * The names in a folder of /proc, or in /proc itself. Throws the system's error, also if its
 * process has ended.
 */
export function namesInProc(path: '/proc' | ProcPath): string[] {
  return readdirSync(path);
}

let own: { uid: number; gid: number } | null = null;

/**
 * The user and group of this process. Returns null where there is no /proc. The link /proc/self
 * itself always belongs to root.
 */
export function ownUser(): { uid: number; gid: number } | null {
  own ??= readOwnUser();
  return own;
}

function readOwnUser(): typeof own {
  const status = readProc('/proc/self/status') ?? '';
  const [uid, gid] = [/^Uid:\s+\d+\s+(\d+)/m, /^Gid:\s+\d+\s+(\d+)/m].map(
    (effective) => effective.exec(status)?.[1],
  );
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}
