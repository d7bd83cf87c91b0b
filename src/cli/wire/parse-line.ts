import { isObject, parsedJson } from '../../base/json-value.ts';
import { jsonFault } from '../../base/text/json-fault.ts';
import { showText } from '../../base/text/show-text.ts';
import { LineError } from './line-error.ts';
import {
  namesIn,
  type ProtocolFields,
  requiredIn,
  type Shape,
  typesIn,
  valuesIn,
} from './protocol-fields.ts';
import { type Pair, splitPairs } from './split-pairs.ts';

/** The meaning of a line of a session. References in it are not resolved. */
export type WireLine =
  | { kind: 'nothing' }
  /** `now`: the responses to earlier requests are not waited for. */
  | { kind: 'send'; method: string; params: unknown; now: boolean }
  /**
   * An answer to the request of the server with this id. Null: to the oldest one. `readAnswer`
   * reads the text.
   */
  | { kind: 'answer'; id: number | null; text: string }
  | { kind: 'refuse'; id: number | null; message: string }
  | { kind: 'wait'; method: string }
  | { kind: 'help'; method: string | null }
  /** Null: the last response. */
  | { kind: 'show'; method: string | null }
  | { kind: 'exit' };

/** The words that begin a line and are no methods. */
export const WIRE_COMMANDS = ['answer', 'refuse', 'wait', 'now', 'show', 'help', 'exit'] as const;

/** The notification that `wait` without a method waits for. */
export const TURN_COMPLETED = 'turn/completed';
const REFUSED = 'the user refuses';
/** The values for required fields that no pair sets. */
const FILLED: Readonly<Record<string, string>> = {
  threadId: '@thread',
  turnId: '@turn',
  expectedTurnId: '@turn',
};
const PLAIN_VALUE = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Reads a line of a session. Throws a LineError that says what is wrong. */
export function parseLine(line: string, fields: ProtocolFields): WireLine {
  const text = line.trim();
  if (text === '' || text.startsWith('#')) return { kind: 'nothing' };
  if (text.startsWith('{')) return parseMessage(text);
  const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  switch (word) {
    case 'answer': {
      const { id, rest: answer } = withoutId(rest);
      return { kind: 'answer', id, text: answer };
    }
    case 'refuse': {
      const { id, rest: message } = withoutId(rest);
      return { kind: 'refuse', id, message: message === '' ? REFUSED : message };
    }
    case 'wait':
      return { kind: 'wait', method: rest === '' ? TURN_COMPLETED : rest };
    case 'now': {
      const later = parseLine(rest, fields);
      if (later.kind !== 'send') throw new LineError('now: expected a request after it');
      return { ...later, now: true };
    }
    case 'help':
      return { kind: 'help', method: rest === '' ? null : rest };
    case 'show':
      return { kind: 'show', method: rest === '' ? null : rest };
    case 'exit':
    case 'quit':
      return { kind: 'exit' };
    default:
      return parseRequest(word, rest, fields);
  }
}

/**
 * A message as it is on the wire, or a line that `--save` has written. The id of a request is
 * ignored.
 */
function parseMessage(text: string): WireLine {
  const message = jsonOf(text, '');
  if (!isObject(message)) throw new LineError('expected a message, which is an object');
  const { id, method, params, result, error, wait, now } = message;
  const answered = typeof id === 'number' ? id : null;
  if (typeof method === 'string') return { kind: 'send', method, params, now: now === true };
  if ('result' in message) return { kind: 'answer', id: answered, text: JSON.stringify(result) };
  if (isObject(error))
    return {
      kind: 'refuse',
      id: answered,
      message: typeof error.message === 'string' ? error.message : REFUSED,
    };
  if (typeof wait === 'string') return { kind: 'wait', method: wait };
  throw new LineError('expected a message with "method", "result" or "error"');
}

function parseRequest(method: string, rest: string, fields: ProtocolFields): WireLine {
  if (!/^[\w/]+$/.test(method))
    throw new LineError(
      `expected a method or a command, found ${showText(method)}: help lists them`,
    );
  const isPlain = rest.startsWith('{') || rest.startsWith('[');
  if (isPlain) return { kind: 'send', method, params: jsonOf(rest, 'params'), now: false };
  const shape = fields.params(method);
  const given = valueOfPairs(splitPairs(rest), shape, fields);
  if (shape.length === 0 && rest === '')
    return { kind: 'send', method, params: undefined, now: false };
  const missing = requiredIn(shape).filter(
    (name) => Object.hasOwn(FILLED, name) && !Object.hasOwn(given, name),
  );
  const filled = Object.fromEntries(missing.map((name) => [name, FILLED[name]]));
  return { kind: 'send', method, params: { ...filled, ...given }, now: false };
}

/**
 * Reads an answer to a request of the server, whose result has this shape. Throws a LineError that
 * says what is wrong.
 */
export function readAnswer(text: string, shape: Shape, fields: ProtocolFields): unknown {
  const value = parsedJson(text);
  if (value !== undefined) return value;
  if (text.startsWith('{')) return jsonOf(text, 'answer');
  const pairs = splitPairs(text);
  const [first] = pairs;
  const choice = first?.value === null ? choiceIn(shape, fields) : null;
  if (first === undefined || choice === null) return valueOfPairs(pairs, shape, fields);
  // `accept` is short for `decision=accept`.
  if (!choice.values.includes(first.name))
    throw new LineError(`answer: expected ${choice.values.join(', ')} or NAME=VALUE`);
  return { [choice.name]: first.name, ...valueOfPairs(pairs.slice(1), shape, fields) };
}

/** The first required field that has one of a few words as its value. Null: there is none. */
export function choiceIn(
  shape: Shape,
  fields: ProtocolFields,
): { name: string; values: string[] } | null {
  for (const name of requiredIn(shape)) {
    const values = valuesIn(fields.field(shape, name)).filter((value) => typeof value === 'string');
    if (values.length > 0) return { name, values };
  }
  return null;
}

/** The id of a request of the server, which a text may begin with. */
export function withoutId(text: string): { id: number | null; rest: string } {
  const [, digits, rest = ''] = /^(\d{1,15})(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  return digits === undefined ? { id: null, rest: text } : { id: Number(digits), rest };
}

function valueOfPairs(
  pairs: readonly Pair[],
  shape: Shape,
  fields: ProtocolFields,
): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const pair of pairs) {
    const { name, value } = pair;
    if (value === null || name === '')
      throw new LineError(
        `expected NAME=VALUE, found ${showText(value === null ? name : `=${value}`)}`,
      );
    const path = name.split('.');
    if (path.includes('')) throw new LineError(`${showText(name)}: a part of the name is empty`);
    put(whole, path, writtenValue(pair, value, fields.at(shape, path)));
  }
  return whole;
}

function put(whole: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const twice = () => new LineError(`${showText(path.join('.'))}: it is set twice`);
  let object = whole;
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(object, name) ? object[name] : {};
    if (!isObject(inner)) throw twice();
    set(object, name, inner);
    object = inner;
  }
  const last = path.at(-1) ?? '';
  if (Object.hasOwn(object, last)) throw twice();
  set(object, last, value);
}

/** Sets a field of any name, even `__proto__`. */
function set(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function writtenValue({ name, isOpen, surplus }: Pair, written: string, shape: Shape): unknown {
  if (isOpen) throw new LineError(`${showText(name)}: the value has no end`);
  if (surplus !== '')
    throw new LineError(
      `${showText(name)}: expected a blank after the value, found ${showText(surplus)}`,
    );
  if (written.startsWith('{') || written.startsWith('[')) return jsonOf(written, name);
  const text = written.startsWith("'")
    ? written.slice(1, -1)
    : written.startsWith('"')
      ? String(jsonOf(written, name))
      : null;
  if (text === null && isPlainValue(written, shape)) return parsedJson(written);
  return isInput(shape) ? [{ type: 'text', text: text ?? written }] : (text ?? written);
}

/**
 * Whether a word is a number, true, false or null, and not a text: a field of text takes `42` as a
 * text.
 */
function isPlainValue(word: string, shape: Shape): boolean {
  if (!PLAIN_VALUE.test(word)) return false;
  const types = typesIn(shape);
  if (types.length === 0 || word === 'null') return true;
  return (
    !types.includes('string') ||
    types.includes(word === 'true' || word === 'false' ? 'boolean' : 'number')
  );
}

/** Whether the value is the input of a turn: a text is short for a list with one text. */
function isInput(shape: Shape): boolean {
  return (
    typesIn(shape).includes('array') &&
    shape.some(({ items }) => typeof items === 'object' && items.$ref?.endsWith('/UserInput'))
  );
}

/**
 * The value of JSON text; `what` is its name for a person. Throws a LineError with the column of
 * the fault.
 */
function jsonOf(text: string, what: string): unknown {
  const value = parsedJson(text);
  if (value !== undefined) return value;
  const { reason, index } = jsonFault(text) ?? { reason: 'it is not JSON', index: 0 };
  throw new LineError(
    `${what === '' ? '' : `${showText(what)}: `}it is not JSON: ${reason}, at character ${index + 1}`,
  );
}

/** The names of the fields of a shape that a line can set by `NAME=VALUE`. */
export function settableNames(shape: Shape): string[] {
  return namesIn(shape).filter((name) => /^[\w$-]+$/.test(name));
}
