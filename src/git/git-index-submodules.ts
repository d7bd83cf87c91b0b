import { join } from 'node:path';
import { readRegularFile } from '../base/files/read-regular-file.ts';

/**
 * Larger indexes, of about 80,000 files, are not read: that would block the server's other work.
 */
const INDEX_BYTES_MAX = 8 * 1024 * 1024;
const HEADER_BYTES = 12;
/** The bytes of an entry before its name, and the places of its fields. */
const FIXED_BYTES = 62;
const MODE_AT = 24;
const FLAGS_AT = 60;
const EXTENDED = 0x4000;
/** The checksum at the end. */
const TRAILER_BYTES = 20;
const SUBMODULE = 0o160000;

/**
 * Whether the index of a repository names submodules. Resolves with null in the same cases as
 * `gitIndexSubmodulePaths`.
 */
export async function gitIndexSubmodules(folder: string): Promise<boolean | null> {
  const paths = await gitIndexSubmodulePaths(folder);
  return paths === null ? null : paths.length > 0;
}

/**
 * Returns the paths of the submodules in the index of a repository with SHA-1, relative to the
 * working tree. `folder` is the git folder of the working tree, a real path. Resolves with null if
 * they are not certain: the index is too large, is split into two files, or cannot be read.
 */
export async function gitIndexSubmodulePaths(folder: string): Promise<string[] | null> {
  try {
    const path = join(folder, 'index');
    const file = await readRegularFile(path, {
      bytesMax: INDEX_BYTES_MAX,
      mayLieAt: (real) => real === path,
    });
    return file === null ? [] : submodulesIn(file.bytes);
  } catch {
    return null;
  }
}

function submodulesIn(bytes: Buffer): string[] | null {
  if (bytes.length < HEADER_BYTES + TRAILER_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC')
    return null;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  const end = bytes.length - TRAILER_BYTES;
  const paths: string[] = [];
  let name: Buffer = Buffer.alloc(0);
  let at = HEADER_BYTES;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    if (at + FIXED_BYTES >= end) return null;
    const entry = version === 4 ? shortenedName(bytes, at, name) : wholeName(bytes, at);
    if (entry === null || entry.next > end) return null;
    name = entry.name;
    if (bytes.readUInt32BE(at + MODE_AT) === SUBMODULE) paths.push(name.toString('utf8'));
    at = entry.next;
  }
  return hasExtension(bytes.subarray(at, end), 'link') ? null : paths;
}

interface EntryName {
  name: Buffer;
  /** The offset of the next entry. */
  next: number;
}

/** Returns null if the index ends before the name does. */
function wholeName(bytes: Buffer, at: number): EntryName | null {
  const start = nameAt(bytes, at);
  const zero = bytes.indexOf(0, start);
  // One to eight NULs pad an entry to a multiple of eight bytes.
  return zero === -1
    ? null
    : { name: bytes.subarray(start, zero), next: at + ((zero - at + 8) & ~7) };
}

/**
 * In version 4, a name begins with the number of bytes to remove from the end of the name before.
 */
function shortenedName(bytes: Buffer, at: number, before: Buffer): EntryName | null {
  let start = nameAt(bytes, at);
  let byte = bytes[start++] ?? 0;
  let removed = byte & 0x7f;
  while ((byte & 0x80) !== 0) {
    byte = bytes[start++] ?? 0;
    removed = (removed + 1) * 128 + (byte & 0x7f);
  }
  const zero = bytes.indexOf(0, start);
  if (zero === -1 || removed > before.length) return null;
  return {
    name: Buffer.concat([before.subarray(0, before.length - removed), bytes.subarray(start, zero)]),
    next: zero + 1,
  };
}

function nameAt(bytes: Buffer, at: number): number {
  return at + FIXED_BYTES + ((bytes.readUInt16BE(at + FLAGS_AT) & EXTENDED) === 0 ? 0 : 2);
}

function hasExtension(rest: Buffer, signature: string): boolean | null {
  for (let at = 0; at + 8 <= rest.length; at += 8 + rest.readUInt32BE(at + 4)) {
    if (rest.toString('latin1', at, at + 4) === signature) return true;
  }
  return false;
}
