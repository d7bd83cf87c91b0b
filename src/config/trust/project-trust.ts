import { resolve } from 'node:path';
import type { JsonObject } from '../../base/json-value.ts';
import { emptyTable, mergeTables, tableWith } from '../toml/config-table.ts';
import { isThroughLinks, type ResolvedEntry, type TrustLevel } from './trust-entries.ts';
import type { TrustRecord } from './trust-record.ts';

/** The trust in a thread's folder, by `[projects]`. */
export interface ProjectTrust {
  /** Null: nothing that is in force. */
  level: TrustLevel | null;
  /** The path of the entry, as the user wrote it. Null: there is none. */
  entry: string | null;
  /** Why the entry is not in force. Null: it is, or there is none. */
  problem: string | null;
}

export const NO_TRUST: ProjectTrust = { level: null, entry: null, problem: null };

/**
 * The trust that an entry gives. An entry for a path that leads to another folder than it did when
 * heddle first saw it gives none: a command may have put a link there. `record`: null if it cannot
 * be read.
 */
export function projectTrust(
  entry: ResolvedEntry | null,
  record: TrustRecord | null,
): ProjectTrust {
  if (entry === null) return NO_TRUST;
  const { path, level, folder } = entry;
  const expected = record?.get(path)?.at ?? resolve(path);
  // Only trust that gives something needs to be checked.
  if (level !== 'trusted' || folder === expected) return { level, entry: path, problem: null };
  const problem = `not in force: the path leads to ${folder}, and led to ${expected} when heddle first saw that you trust it`;
  return {
    level: null,
    entry: path,
    problem: `${problem}. If you trust ${folder}, name it in an entry of its own`,
  };
}

/** A line of the record, about a path that leads to a folder through links. */
export function movedTo(entry: ResolvedEntry): { at?: string } {
  return isThroughLinks(entry) ? { at: entry.folder } : {};
}

/** The settings that the trust in a project gives. */
export function trustDefaults({ level }: ProjectTrust): JsonObject {
  if (level === null) return emptyTable();
  const policy = level === 'trusted' ? 'on-request' : 'untrusted';
  return mergeTables(
    tableWith(['approval_policy'], policy),
    tableWith(['sandbox_mode'], 'workspace-write'),
  );
}

/**
 * The settings over what the trust in the project gives. A permission profile takes the place of
 * `sandbox_mode`.
 */
export function withTrustDefaults(values: JsonObject, trust: ProjectTrust): JsonObject {
  const { sandbox_mode: mode, ...policy } = trustDefaults(trust);
  const given =
    values.default_permissions === undefined && mode !== undefined
      ? { ...policy, sandbox_mode: mode }
      : policy;
  return mergeTables(Object.assign(emptyTable(), given), values);
}
