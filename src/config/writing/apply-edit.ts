import { walkJson } from '../../base/json-value.ts';
import { emptyTable } from '../toml/config-table.ts';
import type { TomlEdit } from './toml-edit.ts';

/** A table of any parser: its values may be dates and large integers. */
export interface AnyTable {
  [key: string]: unknown;
}

/** Changes the table. Returns null, or why the edit cannot be made. */
export function applyEdit(
  table: AnyTable,
  { path, value, mergeStrategy }: TomlEdit,
): string | null {
  const key = path.at(-1) ?? '';
  const outer = path.slice(0, -1);
  if (hasNull(value)) return `${path.join('.')}: a table or a list cannot contain null`;
  const parent = parentOf(table, outer, { makes: value !== null });
  if (parent === null) return null;
  if ('notTable' in parent)
    return `${path.join('.')}: ${parent.notTable.join('.')} is not a table, so no key can be set in it`;
  if (value === null) delete parent.found[key];
  else
    parent.found[key] =
      mergeStrategy === 'upsert' ? merged(parent.found[key], value) : copied(value);
  return null;
}

/** Null: there is no such table, and none is made. */
function parentOf(
  table: AnyTable,
  path: readonly string[],
  { makes }: { makes: boolean },
): { found: AnyTable } | { notTable: readonly string[] } | null {
  let found = table;
  for (const [index, key] of path.entries()) {
    const next = Object.hasOwn(found, key) ? found[key] : undefined;
    if (next === undefined && !makes) return null;
    if (next !== undefined && !isAnyTable(next)) return { notTable: path.slice(0, index + 1) };
    const entered = next ?? emptyTable();
    found[key] = entered;
    found = entered;
  }
  return { found };
}

function merged(before: unknown, value: unknown): unknown {
  if (!isAnyTable(before) || !isAnyTable(value)) return copied(value);
  for (const [key, part] of Object.entries(value)) before[key] = merged(before[key], part);
  return before;
}

/** With tables that have no prototype, as the parsers make them. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  return isAnyTable(value) ? merged(emptyTable(), value) : value;
}

function isAnyTable(value: unknown): value is AnyTable {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

/** Whether there is a null inside of the value. */
function hasNull(value: unknown): boolean {
  return value !== null && !walkJson(value, (part) => (part === null ? null : true));
}
