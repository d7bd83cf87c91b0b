import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrorCode } from '../../src/base/system-error-code.ts';

const HASHED_BYTES_MAX = 1024 * 1024;
const ENTRIES_MAX = 500;

/** The state of files and folders, by path. */
export type Canaries = ReadonlyMap<string, string>;

export interface CanaryOptions {
  /**
   * Whether to compare the times of the last change too. Without them, adding and removing an entry
   * is not noticed.
   */
  times: boolean;
  /** Names that are left out. */
  except?: RegExp;
}

/**
 * Records paths and all below them, without following links. A path that does not exist is recorded
 * as missing.
 */
export function recordCanaries(paths: readonly string[], options: CanaryOptions): Canaries {
  const recorded = new Map<string, string>();
  for (const path of paths) record(path, options, recorded);
  return recorded;
}

/** Returns how the state differs, one line per path. */
export function differences(before: Canaries, after: Canaries): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths]
    .filter((path) => before.get(path) !== after.get(path))
    .map(
      (path) =>
        `${JSON.stringify(path)} was ${before.get(path) ?? 'missing'}, is ${after.get(path) ?? 'missing'}`,
    );
}

function record(path: string, options: CanaryOptions, recorded: Map<string, string>): void {
  if (recorded.size >= ENTRIES_MAX) return;
  const stat = statOf(path);
  if (stat === null) {
    recorded.set(path, 'missing');
    return;
  }
  const names = stat.isDirectory() ? namesIn(path, options) : null;
  const parts = [
    `mode ${stat.mode.toString(8)}`,
    `owner ${stat.uid}`,
    contentOf(path, stat, names),
  ];
  if (options.times) parts.push(`changed at ${stat.mtimeNs}`);
  recorded.set(path, parts.join(', '));
  for (const name of names ?? []) record(join(path, name), options, recorded);
}

function contentOf(path: string, stat: BigIntStats, names: string[] | null): string {
  if (names !== null) return `entries ${names.map((name) => JSON.stringify(name)).join(' ')}`;
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (!stat.isFile() || stat.size > HASHED_BYTES_MAX) return `${stat.size} bytes`;
  return `hash ${createHash('sha1').update(readFileSync(path)).digest('hex').slice(0, 12)}`;
}

function namesIn(path: string, { except }: CanaryOptions): string[] {
  return readdirSync(path)
    .filter((name) => except?.test(name) !== true)
    .sort();
}

function statOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (hasErrorCode(error, ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])) return null;
    throw error;
  }
}
