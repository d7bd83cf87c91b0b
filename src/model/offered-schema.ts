import { isObject, type JsonObject, type JsonValue } from '../base/json-value.ts';

/** The longest JSON text of a schema. */
const CHARS_MAX = 100_000;
const DEPTH_MAX = 32;
/** Providers refuse them at the top of a tool's schema. */
const COMBINATORS = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref'];

/**
 * The schema of a tool's arguments as providers take it: an object with properties, without combinators at its top, whose properties it
 * takes over. A string: why providers would refuse it, and with it each request that offers the tool.
 */
export function offeredSchema(given: JsonObject): JsonObject | string {
  const problem = problemOf(given, given, 0);
  if (problem !== null) return problem;
  if (JSON.stringify(given).length > CHARS_MAX) return `its schema is longer than ${CHARS_MAX} characters`;
  const { $ref } = given;
  const parts = [
    ...['anyOf', 'oneOf', 'allOf'].flatMap((name) => given[name] ?? []),
    ...(typeof $ref === 'string' ? [target($ref, given)] : []),
  ];
  const properties = Object.assign({}, ...[...parts, given].map(propertiesOf)) as JsonObject;
  const rest = Object.entries(given).filter(([name]) => !COMBINATORS.includes(name));
  return { ...Object.fromEntries(rest), type: 'object', properties };
}

function propertiesOf(part: JsonValue | undefined): JsonObject {
  return isObject(part) && isObject(part.properties) ? (part.properties as JsonObject) : {};
}

function problemOf(value: JsonValue, schema: JsonObject, depth: number): string | null {
  if (depth > DEPTH_MAX) return `its schema is nested more than ${DEPTH_MAX} times`;
  if (typeof value !== 'object' || value === null) return null;
  if (!Array.isArray(value) && typeof value.$ref === 'string' && target(value.$ref, schema) === undefined)
    return `its schema refers to ${JSON.stringify(value.$ref.slice(0, 200))}, which it does not have`;
  for (const each of Object.values(value)) {
    const problem = problemOf(each as JsonValue, schema, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

/** The part of a schema that a reference names; undefined: there is none. */
function target(reference: string, schema: JsonObject): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined;
  let part: JsonValue | undefined = schema;
  for (const name of reference.slice(1).split('/').slice(1)) {
    if (typeof part !== 'object' || part === null) return undefined;
    const key: string = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
    if (!Object.hasOwn(part, key)) return undefined;
    part = (part as JsonObject)[key];
  }
  return part;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
