import { join } from 'node:path';
import { readRegularFile } from '../base/files/read-regular-file.ts';

/** Larger indexes, of about 80,000 files, are not read: that would block the server's other work. */
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
 * Whether the index of a repository with SHA-1 names submodules. `folder` is the git folder of the working tree. Resolves with null if
 * that is not certain: the index is too large, is split into two files, or cannot be read.
 */
export async function gitIndexSubmodules(folder: string): Promise<boolean | null> {
  try {
    const path = join(folder, 'index');
    const file = await readRegularFile(path, { bytesMax: INDEX_BYTES_MAX, mayLieAt: (real) => real === path });
    return file === null ? false : hasSubmodules(file.bytes);
  } catch {
    return null;
  }
}

function hasSubmodules(bytes: Buffer): boolean | null {
  if (bytes.length < HEADER_BYTES + TRAILER_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  const end = bytes.length - TRAILER_BYTES;
  let at = HEADER_BYTES;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    if (at + FIXED_BYTES >= end) return null;
    if (bytes.readUInt32BE(at + MODE_AT) === SUBMODULE) return true;
    const next = entryEnd(bytes, at, version);
    if (next === null || next > end) return null;
    at = next;
  }
  return hasExtension(bytes.subarray(at, end), 'link') ? null : false;
}

/** Returns the place after the entry. Returns null if the index ends before. */
function entryEnd(bytes: Buffer, at: number, version: number): number | null {
  const fixed = FIXED_BYTES + ((bytes.readUInt16BE(at + FLAGS_AT) & EXTENDED) === 0 ? 0 : 2);
  let name = at + fixed;
  // The length of the part that the name has in common with the one before, 7 bits in each byte.
  if (version === 4) while (((bytes[name++] ?? 0) & 0x80) !== 0);
  const zero = bytes.indexOf(0, name);
  if (zero === -1) return null;
  // Before version 4, one to eight zeros fill up a multiple of eight bytes.
  return version === 4 ? zero + 1 : at + ((zero - at + 8) & ~7);
}

function hasExtension(rest: Buffer, signature: string): boolean | null {
  for (let at = 0; at + 8 <= rest.length; at += 8 + rest.readUInt32BE(at + 4)) {
    if (rest.toString('latin1', at, at + 4) === signature) return true;
  }
  return false;
}
