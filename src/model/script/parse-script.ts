import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import type { ShapePath } from './check-shape.ts';
import { ScriptError, type ScriptLocation } from './script-error.ts';

/** A script's text as plain data, and the location of each part in the text. */
export interface ParsedScript {
  value: unknown;
  /**
   * The location of the value at a path, or of its key. For a path that does not exist: the last
   * location on it.
   */
  placeOf(path: ShapePath, onKey?: boolean): ScriptLocation;
}

/** Parses YAML, of which JSON is a part. `file` names the text in errors. Throws a ScriptError. */
export function parseScript(text: string, file: string): ParsedScript {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true });
  const placeAt = (offset: number): ScriptLocation => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems = [...document.errors, ...unresolvedAliases(document)];
  if (problems.length > 0) {
    throw new ScriptError(
      problems.map(({ message, pos, code }) => {
        const hint =
          code === 'BLOCK_AS_IMPLICIT_KEY' ? '. A text with a colon and a space needs quotes' : '';
        return {
          text: `this is not valid YAML or JSON: ${message}${hint}`,
          place: placeAt(pos[0]),
        };
      }),
      file,
    );
  }
  return {
    value: plainValue(document, file),
    placeOf: (path, onKey = false) => placeAt(offsetOf(document, path, onKey)),
  };
}

function unresolvedAliases(document: Document): { message: string; pos: [number]; code?: never }[] {
  const problems: { message: string; pos: [number] }[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) === undefined)
        problems.push({
          message: `the alias *${alias.source} has no anchor &${alias.source} before it`,
          pos: [rangeStart(alias) ?? 0],
        });
    },
  });
  return problems;
}

/** Throws a ScriptError if aliases expand the text too much. */
function plainValue(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause;
    throw new ScriptError([{ text: cause.message, place: null }], file);
  }
}

function offsetOf(document: Document, path: ShapePath, onKey: boolean): number {
  let node: unknown = document.contents;
  let offset = rangeStart(node) ?? 0;
  for (const [index, key] of path.entries()) {
    const inside = isAlias(node) ? node.resolve(document) : node;
    const wantsKey = onKey && index === path.length - 1;
    node = isSeq(inside) ? inside.items[Number(key)] : memberOf(inside, String(key), wantsKey);
    offset = rangeStart(node) ?? offset;
  }
  return offset;
}

function memberOf(node: unknown, key: string, wantsKey: boolean): unknown {
  if (!isMap(node)) return null;
  const pair = node.items.find(
    (item) =>
      isPair(item) && (isScalar(item.key) ? String(item.key.value) : String(item.key)) === key,
  );
  // An empty value has no location of its own.
  return wantsKey || rangeStart(pair?.value) === null ? pair?.key : pair?.value;
}

function rangeStart(node: unknown): number | null {
  return isNode(node) && node.range ? node.range[0] : null;
}
