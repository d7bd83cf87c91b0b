import { isObject, type JsonObject, type JsonValue, walkJson } from '../base/json-value.ts';

/** The longest description of a namespace that the Responses API takes. */
export const NAMESPACE_DESCRIPTION_CHARS_MAX = 1024;

/** The longest JSON text of a schema. */
const CHARS_MAX = 100_000;
const SCHEMA_DEPTH_MAX = 32;
/** Their schemas are parts of the schema that they are in. */
const PARTS = ['anyOf', 'oneOf', 'allOf'];
/** Providers refuse them at the top of a tool's schema. */
const COMBINATORS = [...PARTS, 'not', 'enum', 'const', '$ref'];

/**
 * The schema of a tool's arguments as providers take it: an object with properties, without
 * combinators at its top. It takes over the properties that they name. A string: why providers
 * would refuse it, and with it each request that offers the tool.
 */
export function offeredSchema(given: JsonObject): JsonObject | string {
  const problem = problemOf(given);
  if (problem !== null) return problem;
  if (JSON.stringify(given).length > CHARS_MAX)
    return `its schema is longer than ${CHARS_MAX} characters`;
  const properties = propertiesOf(given);
  const [name] =
    Object.entries(properties).find(
      ([, schema]) => !isObject(schema) && typeof schema !== 'boolean',
    ) ?? [];
  if (name !== undefined) return `its property ${JSON.stringify(name.slice(0, 200))} has no schema`;
  const rest = Object.entries(given).filter(([key]) => !COMBINATORS.includes(key));
  const offered = { ...Object.fromEntries(rest), type: 'object', properties };
  // It may refer to a part that was left out.
  return problemOf(offered) ?? offered;
}

/**
 * The properties that a schema and its parts name. A property with several schemas may have any of
 * them.
 */
function propertiesOf(given: JsonObject): JsonObject {
  const schemas = new Map<string, Map<string, JsonValue>>();
  // Parts that are added are visited, too, and each only once.
  const parts = new Set<JsonValue>([given]);
  for (const part of parts) {
    if (!isObject(part)) continue;
    const { properties, $ref } = part as JsonObject;
    for (const [name, schema] of isObject(properties)
      ? Object.entries(properties as JsonObject)
      : [])
      schemas.set(name, (schemas.get(name) ?? new Map()).set(JSON.stringify(schema), schema));
    for (const each of PARTS.flatMap((name) => (part as JsonObject)[name] ?? [])) parts.add(each);
    if (typeof $ref === 'string') parts.add(target($ref, given) ?? null);
  }
  return Object.fromEntries([...schemas].map(([name, all]) => [name, anyOf([...all.values()])]));
}

function anyOf(schemas: JsonValue[]): JsonValue {
  const [first = true, ...others] = schemas;
  return others.length === 0 ? first : { anyOf: schemas };
}

function problemOf(schema: JsonObject): string | null {
  let problem: string | null = null;
  walkJson(schema, (part, _key, depth) => {
    const reference = isObject(part) ? part.$ref : null;
    if (depth > SCHEMA_DEPTH_MAX)
      problem = `its schema is nested more than ${SCHEMA_DEPTH_MAX} times`;
    else if (typeof reference === 'string' && target(reference, schema) === undefined)
      problem = `its schema refers to ${JSON.stringify(reference.slice(0, 200))}, which it does not have`;
    return problem === null ? true : null;
  });
  return problem;
}

/** The part of a schema that a reference names; undefined: there is none. */
function target(reference: string, schema: JsonObject): JsonValue | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
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
