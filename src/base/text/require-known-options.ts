import { isObject } from '../json-value.ts';
import { suggestKey } from './suggest-key.ts';

/**
 * Throws a TypeError of one line that names the first option that `options` has and `known` does
 * not, and the nearest one or all that there are. Types alone do not report it: code in JavaScript
 * has none, and an object in a variable may have further members.
 */
export function requireKnownOptions<Options extends object>(
  place: string,
  options: Options,
  known: Readonly<Record<keyof Required<Options>, true>>,
): void {
  if (!isObject(options))
    throw new TypeError(`${place}: the options must be an object, not ${typeof options}`);
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const nearest = suggestKey(unknown, names);
  const advice =
    nearest === null ? `the options are ${names.join(', ')}` : `did you mean ${nearest}?`;
  throw new TypeError(`${place}: unknown option ${JSON.stringify(unknown)}: ${advice}`);
}
