import { isObject } from '../json-value.ts';
import { suggestKey } from './suggest-key.ts';

/** The values that an option can have. */
export interface OptionKind {
  /** As the rest of "… must be …". */
  expected: string;
  is(value: unknown): boolean;
}

/** The kinds of options. The caller itself checks an option of the kind `any`. */
export const KIND = {
  any: { expected: 'anything', is: () => true },
  string: { expected: 'a string', is: (value) => typeof value === 'string' },
  strings: {
    expected: 'an array of strings',
    is: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  },
  boolean: { expected: 'true or false', is: (value) => typeof value === 'boolean' },
  milliseconds: {
    expected: 'a number of milliseconds',
    is: (value) => typeof value === 'number' && value >= 0,
  },
  function: { expected: 'a function', is: (value) => typeof value === 'function' },
  variables: { expected: 'an object with variables', is: isObject },
  signal: {
    expected: 'an AbortSignal',
    is: (value) => isObject(value) && 'aborted' in value && hasMethods(value, ['addEventListener']),
  },
  readable: {
    expected: 'a readable stream',
    is: (value) => hasMethods(value, ['on', 'pause', 'resume']),
  },
  writable: {
    expected: 'a writable stream',
    is: (value) => hasMethods(value, ['on', 'write', 'end']),
  },
  log: withMethods(['debug', 'info', 'warn', 'error'], 'a logger such as pino'),
  clock: withMethods(['now', 'monotonic', 'setTimer'], 'a clock'),
} as const satisfies Record<string, OptionKind>;

/** One of these strings. */
export function oneOf(...values: readonly string[]): OptionKind {
  return {
    expected: values.map((value) => JSON.stringify(value)).join(' or '),
    is: (value) => values.includes(value as string),
  };
}

/**
 * Throws a TypeError of one line about the first option that `options` has and `known` does not,
 * with the nearest one or all that there are, or about the first whose value is of another kind. An
 * undefined option is as good as an absent one. Types alone do not report it: code in JavaScript
 * has none, and an object in a variable may have further members.
 */
export function requireOptions<Options extends object>(
  place: string,
  options: Options,
  known: Readonly<Record<keyof Required<Options>, OptionKind>>,
): void {
  if (!isObject(options))
    throw new TypeError(`${place}: the options must be an object, not ${kindOf(options)}`);
  const kinds = new Map<string, OptionKind>(Object.entries(known));
  for (const [name, value] of Object.entries(options)) {
    const kind = kinds.get(name);
    if (kind === undefined)
      throw new TypeError(
        `${place}: unknown option ${JSON.stringify(name)}: ${advice(name, [...kinds.keys()])}`,
      );
    if (value !== undefined && !kind.is(value))
      throw new TypeError(`${place}: ${name} must be ${kind.expected}`);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}

function advice(name: string, names: readonly string[]): string {
  const nearest = suggestKey(name, names);
  return nearest === null ? `the options are ${names.join(', ')}` : `did you mean ${nearest}?`;
}

function withMethods(methods: readonly string[], example: string): OptionKind {
  return {
    expected: `${example}, with the methods ${methods.join(', ')}`,
    is: (value) => hasMethods(value, methods),
  };
}

function hasMethods(value: unknown, methods: readonly string[]): boolean {
  return isObject(value) && methods.every((method) => typeof value[method] === 'function');
}
