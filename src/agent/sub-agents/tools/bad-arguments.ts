import { isUuid } from '../../../base/ids.ts';
import { isObject, type JsonObject, type JsonValue } from '../../../base/json-value.ts';
import { INPUT_CHARS_MAX } from '../../prompt/check-input.ts';

/** The arguments of a call are invalid. The message follows the name of the tool. */
export class BadArguments extends Error {
  override readonly name = 'BadArguments';
}

/** The arguments as an object. */
export function fields(args: JsonValue): JsonObject {
  if (!isObject(args)) throw new BadArguments('needs an object as its arguments');
  return args;
}

/** The message for an agent. */
export function message({ message: text }: JsonObject): string {
  if (typeof text !== 'string' || text.trim() === '') throw new BadArguments('needs `message`: a non-empty string');
  if (text.length > INPUT_CHARS_MAX) throw new BadArguments(`needs a \`message\` of at most ${INPUT_CHARS_MAX} characters`);
  return text;
}

/** The id of an agent, under the first of the names that is given. */
export function agentId(args: JsonObject, names: readonly [string, ...string[]]): string {
  const id = names.map((name) => args[name]).find((value) => value !== undefined);
  if (typeof id !== 'string' || !isUuid(id)) throw new BadArguments(`needs \`${names[0]}\`: the id of an agent`);
  return id.toLowerCase();
}

export function optionalText(args: JsonObject, name: string): string | null {
  const value = args[name] ?? null;
  if (value !== null && (typeof value !== 'string' || value.trim() === ''))
    throw new BadArguments(`needs \`${name}\` to be a non-empty string`);
  return value;
}

export function optionalFlag(args: JsonObject, name: string): boolean {
  const value = args[name] ?? false;
  if (typeof value !== 'boolean') throw new BadArguments(`needs \`${name}\` to be true or false`);
  return value;
}
