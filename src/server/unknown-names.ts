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

/**
 * Reports the names in requests that the protocol does not have in any of its parts that heddle knows: the server ignores such fields, as
 * later versions of clients expect, but mostly they are misspelt. Each name of a method is reported once to a connection's log. Does not
 * look into values that may have any fields, such as `config` and the items of a history.
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

  /** Looks at the params of a request, which need not be valid. Takes microseconds, since it looks at a limited number of names. */
  heed(connection: object, method: string, params: unknown): void {
    this.#table ??= readParamNames();
    const { methods, shapes } = this.#table;
    const parts: Part[] = [{ value: params, shape: Object.hasOwn(methods, method) ? (methods[method] ?? -1) : -1, path: 'params' }];
    let left = NAMES_MAX;
    for (let part = parts.pop(); part !== undefined && left > 0; part = parts.pop()) {
      const shape = shapes[part.shape];
      if (shape === undefined) continue;
      if (Array.isArray(part.value)) parts.push(...elements(part, part.value));
      else if (isObject(part.value)) left -= this.#look(part, { connection, method, shape, object: part.value, left, parts });
    }
  }

  /** Looks at the names of an object, and adds the values to look into. Returns the number of names. */
  #look({ path }: Part, { connection, method, shape, object, left, parts }: Looking): number {
    const names = Object.keys(object).slice(0, left);
    for (const name of names) {
      const value = object[name];
      if (Object.hasOwn(shape, name)) parts.push({ value, shape: shape[name] ?? -1, path: `${path}.${name}` });
      // Names that begin with these are for extensions of any protocol.
      else if (value !== null && !/^[_$]|^x-/.test(name)) this.#tell(connection, { method, field: `${path}.${name}`, name, shape });
    }
    return names.length + 1;
  }

  #tell(connection: object, { method, field, name, shape }: { method: string; field: string; name: string; shape: Shape }): void {
    const told = this.#told.get(connection) ?? new Set();
    this.#told.set(connection, told);
    const key = `${method} ${cutText(field, SHOWN_CHARS_MAX)}`;
    if (told.has(key) || told.size >= TOLD_MAX) return;
    told.add(key);
    const nearest = suggestKey(cutText(name, SHOWN_CHARS_MAX), Object.keys(shape));
    const fields = { method, field: cutText(field, SHOWN_CHARS_MAX), ...(nearest === null ? {} : { nearest }) };
    this.#log.warn(fields, 'the protocol has no such field: the server ignores it');
    if (told.size === TOLD_MAX) this.#log.warn({ method }, 'further unknown fields of this connection are not reported');
  }
}

interface Looking {
  connection: object;
  method: string;
  shape: Shape;
  object: Record<string, unknown>;
  /** The most names to look at. */
  left: number;
  parts: Part[];
}

function elements({ shape, path }: Part, list: readonly unknown[]): Part[] {
  return list.slice(0, ELEMENTS_MAX).map((value, index) => ({ value, shape, path: `${path}[${index}]` }));
}
