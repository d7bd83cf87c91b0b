import { isObject, type JsonObject, type JsonValue } from '../base/json-value.ts';
import { type Action, type ActionOutcome, failed } from './action.ts';
import type { CallContext, Tool } from './tool.ts';

/**
 * The arguments of a call are invalid. The message is a sentence for the model, which follows the
 * name of the tool and a colon.
 */
export class BadArguments extends Error {
  override readonly name = 'BadArguments';
}

/** A tool whose `prepare` throws BadArguments for arguments that the model must correct. */
export function checkedTool(
  spec: Tool['spec'],
  prepare: (
    args: JsonValue,
    context: CallContext,
  ) => Action | ActionOutcome | Promise<Action | ActionOutcome>,
  more: Omit<Tool, 'spec' | 'prepare'> = {},
): Tool {
  return {
    ...more,
    spec,
    async prepare(args, context) {
      try {
        return await prepare(args, context);
      } catch (error) {
        if (error instanceof BadArguments) return failed(`${spec.name}: ${error.message}`);
        throw error;
      }
    },
  };
}

/**
 * The arguments as an object. `needed`: the name of a field that it must have. Throws BadArguments,
 * as the functions below do.
 */
export function requireObject(args: JsonValue, needed: string): JsonObject {
  if (!isObject(args)) throw new BadArguments(`expected an object with \`${needed}\`.`);
  return args as JsonObject;
}

/** Null: the field is absent or null. */
export function stringField(fields: JsonObject, name: string): string | null {
  const { [name]: value = null } = fields;
  if (value !== null && typeof value !== 'string')
    throw new BadArguments(`\`${name}\` must be a string.`);
  return value;
}

/** Null: the field is absent or null. An empty string, or one of blanks, is invalid. */
export function textField(fields: JsonObject, name: string): string | null {
  const value = stringField(fields, name);
  if (value?.trim() === '') throw new BadArguments(`\`${name}\` must be a non-empty string.`);
  return value;
}

/** `what`: what the field says. */
export function requireText(fields: JsonObject, name: string, what: string): string {
  const value = textField(fields, name);
  if (value === null) throw new BadArguments(`\`${name}\` is missing: pass ${what} as a string.`);
  return value;
}

/** Null: the field is absent or null. */
export function numberField(fields: JsonObject, name: string): number | null {
  const { [name]: value = null } = fields;
  if (value !== null && (typeof value !== 'number' || !Number.isFinite(value)))
    throw new BadArguments(`\`${name}\` must be a number.`);
  return value;
}

/** Null: the field is absent or null. */
export function booleanField(fields: JsonObject, name: string): boolean | null {
  const { [name]: value = null } = fields;
  if (value !== null && typeof value !== 'boolean')
    throw new BadArguments(`\`${name}\` must be true or false.`);
  return value;
}

/** Null: the field is absent or null. */
export function stringListField(fields: JsonObject, name: string): string[] | null {
  const { [name]: value = null } = fields;
  if (value === null) return null;
  const texts = Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
  if (!Array.isArray(value) || texts.length !== value.length)
    throw new BadArguments(`\`${name}\` must be a list of strings.`);
  return texts;
}

/** A list of objects. `length`: how many it may have at least and at most. */
export function objectListField(
  fields: JsonObject,
  name: string,
  [min, max]: readonly [number, number],
): JsonObject[] {
  const { [name]: value = null } = fields;
  const objects = Array.isArray(value) ? value.filter(isObject) : [];
  const isValid =
    Array.isArray(value) &&
    objects.length === value.length &&
    value.length >= min &&
    value.length <= max;
  if (!isValid) throw new BadArguments(`\`${name}\` must be a list of ${min} to ${max} objects.`);
  return objects as JsonObject[];
}
