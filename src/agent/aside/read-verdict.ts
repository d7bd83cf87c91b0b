import { isObject, type JsonObject, strictJson } from '../../base/json-value.ts';

/** The JSON Schema of a verdict: an object with these keys and no others. */
export interface VerdictSchema extends JsonObject {
  type: 'object';
  properties: { [key: string]: { type: string | string[]; enum?: string[] } };
  /** A provider that supports schemas wants all keys here. */
  required: string[];
  additionalProperties: false;
}

/** A longer answer is none. */
const VERDICT_CHARS_MAX = 100_000;

/**
 * Reads the answer of a model or a program that judges something. The whole answer must be one JSON
 * object of the schema, with each key once; only the keys in `required` must be there. Returns null
 * if it is anything else.
 */
export function readVerdict(
  text: string,
  schema: VerdictSchema,
  required: readonly string[],
): JsonObject | null {
  const answer = text.length > VERDICT_CHARS_MAX ? undefined : strictJson(text);
  if (!isObject(answer) || !required.every((key) => Object.hasOwn(answer, key))) return null;
  return Object.entries(answer).every(([key, value]) => isOf(schema, key, value))
    ? (answer as JsonObject)
    : null;
}

function isOf({ properties }: VerdictSchema, key: string, value: unknown): boolean {
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (property === undefined) return false;
  const types = [property.type].flat();
  const isOfType = types.includes(value === null ? 'null' : typeof value);
  // Half of a character is no text.
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) return false;
  return (
    isOfType &&
    (property.enum === undefined || (typeof value === 'string' && property.enum.includes(value)))
  );
}
