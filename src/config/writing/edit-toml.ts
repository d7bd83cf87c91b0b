import { isDeepStrictEqual } from 'node:util';
import { parse as parseForPatch, patch } from '@decimalturn/toml-patch';
import { parse } from 'smol-toml';
import type { JsonObject } from '../../base/json-value.ts';
import { NO_LOCATION } from '../toml/config-error.ts';
import { toTable } from '../toml/config-table.ts';
import { type AnyTable, applyEdit } from './apply-edit.ts';
import type { EditedToml, TomlEdit } from './toml-edit.ts';

/** Without commas behind last elements, which older readers of TOML refuse in inline tables. */
const FORMAT = { trailingComma: false };

/**
 * The depths from which new tables are written in one line, in the order in which they are tried:
 * first, all tables get sections of their own. The writer cannot write each of them into each file.
 */
const INLINE_FROM = [32, 2, 1, 0];

/**
 * Makes the edits in a valid TOML text, and keeps its comments and its notation. It takes up to a
 * second for a large file, so call it in a thread of its own. The result is parsed again: it has
 * exactly the settings of the text with the edits, or there is a problem.
 */
export function editToml(text: string, edits: readonly TomlEdit[]): EditedToml {
  const atOnce = tryEdits(text, edits, INLINE_FROM.slice(0, 1));
  if (!('problem' in atOnce) || atOnce.problem !== NOT_EDITABLE) return atOnce;
  // One by one, so that only the edits that need it are written in one line.
  let edited: EditedToml = { text };
  for (const edit of edits) {
    edited = tryEdits(edited.text, [edit], INLINE_FROM);
    if ('problem' in edited) return edited;
  }
  return edited;
}

function tryEdits(
  text: string,
  edits: readonly TomlEdit[],
  formats: readonly number[],
): EditedToml {
  const wanted = read(text);
  for (const edit of edits) {
    const problem = applyEdit(wanted, edit);
    if (problem !== null) return { problem };
  }
  if (isDeepStrictEqual(wanted, read(text))) return { text };
  for (const inlineTableStart of formats) {
    const edited = patched(text, edits, inlineTableStart);
    if (edited !== null && hasSettings(edited, wanted)) return { text: edited };
  }
  return { problem: NOT_EDITABLE };
}

const NOT_EDITABLE =
  'config.toml is written in a way in which this change cannot be made without rewriting it. Change it by hand.';

function read(text: string): JsonObject {
  return toTable(parse(text, { integersAsBigInt: 'asNeeded', maxDepth: 64 }), NO_LOCATION);
}

function patched(
  text: string,
  edits: readonly TomlEdit[],
  inlineTableStart: number,
): string | null {
  try {
    const table = parseForPatch(text) as AnyTable;
    for (const edit of edits) applyEdit(table, edit);
    const edited = patch(text, table, { ...FORMAT, inlineTableStart });
    return edited === '' || edited.endsWith('\n') ? edited : `${edited}\n`;
  } catch {
    // The parser or the writer does not know the notation.
    return null;
  }
}

function hasSettings(text: string, wanted: JsonObject): boolean {
  try {
    return isDeepStrictEqual(read(text), wanted);
  } catch {
    return false;
  }
}
