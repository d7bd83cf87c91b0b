import { isObject } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import { cutText } from '../base/text/cut-text.ts';
import { suggestKey } from '../base/text/suggest-key.ts';
import { readParamNames, type Shape } from '../protocol/generated/param-names.js';

/** The most names that are reported for a connection. */
const TOLD_MAX = 50;
/** The most names that are looked at in a request, and the most elements of a list in it. */
const NAMES_MAX = 2_000;
const ELEMENTS_MAX = 50;
const SHOWN_CHARS_MAX = 200;

interface Part {
  value: unknown;
  /** The number of its shape. -1: not looked at. */
  shape: number;
  path: string;
}

/** A name in the params of a request that the protocol does not have. */
export interface UnknownName {
  /** Its path, such as `params.input[0].txt`. */
  field: string;
  /** The name that was probably meant. Null: none is similar. */
  nearest(): string | null;
}

/**
 * Finds the names in the params of a request, which need not be valid, that the protocol does not
 * have in any of its parts that heddle knows. Does not look into values that may have any fields,
 * such as `config` and the items of a history. Takes microseconds, since it looks at a limited
 * number of names.
 */
export function* findUnknownNames(
  method: string,
  params: unknown,
  table: ReturnType<typeof readParamNames>,
): Generator<UnknownName> {
  const { methods, shapes } = table;
  const parts: Part[] = [
    {
      value: params,
      shape: Object.hasOwn(methods, method) ? (methods[method] ?? -1) : -1,
      path: 'params',
    },
  ];
  let left = NAMES_MAX;
  for (let part = parts.pop(); part !== undefined && left > 0; part = parts.pop()) {
    const shape = shapes[part.shape];
    if (shape === undefined) continue;
    if (Array.isArray(part.value)) parts.push(...elements(part, part.value));
    if (!isObject(part.value)) continue;
    const names = Object.keys(part.value).slice(0, left);
    left -= names.length + 1;
    yield* look(part.value, names, { path: part.path, shape, parts });
  }
}

interface Looking {
  path: string;
  shape: Shape;
  /** Gets the values to look into. */
  parts: Part[];
}

/** Looks at these names of an object. */
function* look(
  object: Record<string, unknown>,
  names: readonly string[],
  { path, shape, parts }: Looking,
): Generator<UnknownName> {
  for (const name of names) {
    if (Object.hasOwn(shape, name))
      parts.push({ value: object[name], shape: shape[name] ?? -1, path: `${path}.${name}` });
    else if (isMisspelt(name, object)) yield unknownName(name, path, shape);
  }
}

/** Whether it is no extension: names that begin with these are for extensions of any protocol. */
function isMisspelt(name: string, object: Record<string, unknown>): boolean {
  return object[name] !== null && !/^[_$]|^x-/.test(name);
}

function unknownName(name: string, path: string, shape: Shape): UnknownName {
  return {
    field: `${path}.${name}`,
    nearest: () => suggestKey(cutText(name, SHOWN_CHARS_MAX), Object.keys(shape)),
  };
}

/**
 * Reports the unknown names in requests: the server ignores such fields, as later versions of
 * clients expect, but mostly they are misspelt. Each name of a method is reported once to a
 * connection's log.
 */
export class UnknownNames {
  readonly #log: Log;
  /** Read with the first request. */
  #table: ReturnType<typeof readParamNames> | null = null;
  /** By connection, the methods and fields that were reported. */
  readonly #told = new WeakMap<object, Set<string>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Looks at the params of a request, which need not be valid. */
  heed(connection: object, method: string, params: unknown): void {
    this.#table ??= readParamNames();
    for (const found of findUnknownNames(method, params, this.#table))
      this.#tell(connection, method, found);
  }

  #tell(connection: object, method: string, { field, nearest }: UnknownName): void {
    const told = this.#told.get(connection) ?? new Set();
    this.#told.set(connection, told);
    const shown = cutText(field, SHOWN_CHARS_MAX);
    const key = `${method} ${shown}`;
    if (told.has(key) || told.size >= TOLD_MAX) return;
    told.add(key);
    const name = nearest();
    this.#log.warn(
      { method, field: shown, ...(name === null ? {} : { nearest: name }) },
      'the protocol has no such field: the server ignores it',
    );
    if (told.size === TOLD_MAX)
      this.#log.warn({ method }, 'further unknown fields of this connection are not reported');
  }
}

function elements({ shape, path }: Part, list: readonly unknown[]): Part[] {
  return list
    .slice(0, ELEMENTS_MAX)
    .map((value, index) => ({ value, shape, path: `${path}[${index}]` }));
}
