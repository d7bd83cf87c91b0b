import { dirname, isAbsolute, resolve } from 'node:path';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { isTable } from '../toml/config-table.ts';

export type TrustLevel = 'trusted' | 'untrusted';

/** An entry of `[projects]` in the config.toml of the user or of the system. */
export interface TrustEntry {
  /**
   * The path as the user wrote it. The record of trusted files uses it too, because swapping a link
   * later does not change it.
   */
  path: string;
  /** Null: the entry has none. Any other value than `trusted` counts as `untrusted`. */
  level: TrustLevel | null;
}

/** An entry, and the folder that its path leads to now, with links resolved. */
export interface ResolvedEntry extends TrustEntry {
  folder: string;
}

/** Returns the entries of `[projects]` with absolute paths. */
export function trustEntries({ projects }: JsonObject): TrustEntry[] {
  return Object.entries(isTable(projects) ? projects : {}).flatMap(([path, entry]) =>
    isAbsolute(path) && isTable(entry) ? [{ path, level: levelOf(entry.trust_level) }] : [],
  );
}

function levelOf(value: JsonValue | undefined): TrustLevel | null {
  if (value === undefined) return null;
  return value === 'trusted' ? 'trusted' : 'untrusted';
}

/** Returns the entry with its folder as it is now. */
export function resolveEntry(entry: TrustEntry): ResolvedEntry {
  return { ...entry, folder: realPathOrSame(entry.path) };
}

/** As `resolveEntry`, for all entries. Lets other work run in between. */
export async function resolveEntries(
  entries: readonly TrustEntry[],
  breaks: EventLoopYield,
): Promise<ResolvedEntry[]> {
  const resolved: ResolvedEntry[] = [];
  for await (const entry of inSlices(entries, 1, breaks)) resolved.push(resolveEntry(entry));
  return resolved;
}

/**
 * Whether the path of an entry leads to its folder through links, which commands may be able to
 * replace.
 */
export function isThroughLinks({ path, folder }: ResolvedEntry): boolean {
  return folder !== resolve(path);
}

/**
 * Returns the entry that decides about a folder: the nearest one, from the folder up to the
 * project's root. Null if there is none. Of those for one folder, the last that names it without
 * links decides before all others: no link that a command makes takes its place.
 */
export function nearestEntry(
  folder: string,
  root: string,
  resolved: readonly ResolvedEntry[],
): ResolvedEntry | null {
  for (let at = folder; ; at = dirname(at)) {
    const here = resolved.filter((one) => one.folder === at);
    const entry = here.findLast((one) => !isThroughLinks(one)) ?? here.at(-1);
    if (entry !== undefined || at === root) return entry ?? null;
  }
}
