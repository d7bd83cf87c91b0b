import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import {
  type Definitions,
  definitionName,
  type MethodTable,
  mapDefinitions,
  mapSchema,
  type Schema,
  withoutLengths,
} from './bundle.ts';

const BANNER = '// Generated from schema/ by `npm run generate`. Do not edit.';

/** The range of each number format. Ranges of 64 bits are as exact as a double can be. */
const RANGES: Record<string, { minimum: number; maximum: number }> = {
  int32: { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  int64: { minimum: -(2 ** 63), maximum: 2 ** 63 },
  uint: { minimum: 0, maximum: 2 ** 64 },
  uint16: { minimum: 0, maximum: 2 ** 16 - 1 },
  uint32: { minimum: 0, maximum: 2 ** 32 - 1 },
  uint64: { minimum: 0, maximum: 2 ** 64 },
};

/**
 * A module: for each export, the definition that it validates, or a table from method to
 * definition.
 */
export type Exports = Record<string, string | Record<string, string>>;

/**
 * The validators of params, which clients send, and of the items in them. The handshake has a
 * separate one, since the server needs only this one to start.
 */
export function paramsExports(methods: MethodTable): { handshake: Exports; others: Exports } {
  const params: Record<string, string> = {};
  for (const [method, row] of Object.entries(methods.clientRequests)) {
    if (row.params) params[method] = definitionName(row.params);
  }
  const { initialize = '', ...others } = params;
  return {
    handshake: { validateHandshake: { initialize } },
    others: { validateParams: others, validateItem: 'ItemAlone' },
  };
}

/** The validators of results that clients send for the server's requests. */
export function answerExports(methods: MethodTable): Exports {
  return { validateAnswer: mapValues(methods.serverRequests, (row) => definitionName(row.result)) };
}

/** The validators of the results, notifications and requests that the server sends. */
export function sentExports(methods: MethodTable): Exports {
  const results: Record<string, string> = {};
  for (const [method, row] of Object.entries(methods.clientRequests)) {
    if (row.result) results[method] = definitionName(row.result);
  }
  const notifications = mapValues(methods.serverNotifications, (row) => definitionName(row.params));
  const requests = mapValues(methods.serverRequests, (row) => definitionName(row.params));
  return {
    validateResult: results,
    validateNotification: notifications,
    validateRequest: requests,
  };
}

/**
 * A self-contained ES module with the exports. It contains each definition once, even if several
 * methods use it.
 */
export async function generateValidators(
  definitions: Definitions,
  exports: Exports,
): Promise<string> {
  const ajv = new Ajv({
    strict: false,
    discriminator: true,
    inlineRefs: false,
    messages: false,
    // Without ajv's runtime, lengths count UTF-16 units. That is correct for minLength 1, and no
    // other length is in use.
    unicode: false,
    code: { source: true, esm: true },
  });
  ajv.addSchema({ $id: 'heddle', definitions: forAjv(definitions) });
  const names = new Set(
    Object.values(exports).flatMap((table) =>
      typeof table === 'string' ? [table] : Object.values(table),
    ),
  );
  const compiled = standalone.default(
    ajv,
    Object.fromEntries([...names].map((name) => [name, `heddle#/definitions/${name}`])),
  );
  const tables = Object.entries(exports).map(([name, table]) => {
    if (typeof table === 'string') return `export const ${name} = ${table};`;
    const rows = Object.entries(table).map(
      ([method, definition]) => `${JSON.stringify(method)}: ${definition},`,
    );
    return `export const ${name} = {${rows.join('')}};`;
  });
  return inOneModule(
    [compiled.replaceAll(/export (?=const \w+ = validate\d+;)/g, ''), ...tables].join('\n'),
  );
}

export function declareValidators(exports: Exports): string {
  const names = Object.entries(exports).map(([name, table]) => {
    const type = typeof table === 'string' ? 'Validator' : 'Readonly<Record<string, Validator>>';
    return `export declare const ${name}: ${type};\n`;
  });
  return `${BANNER}
/** Whether a value is valid. If not, \`errors\` says why, until the next call. */
export interface Validator {
  (value: unknown): boolean;
  errors?: ValidationError[] | null;
}

/** An error of ajv. \`instancePath\` is a JSON pointer; \`params\` depend on the keyword. */
export interface ValidationError {
  instancePath: string;
  keyword: string;
  params: Record<string, unknown>;
}

${names.join('')}`;
}

/**
 * The same definitions in the form that ajv compiles best. Number formats become ranges, tagged
 * unions begin with a list of their tags, and each "X or null" gets its own definition, so that an
 * error is about X and not about both.
 */
function forAjv(definitions: Definitions): Definitions {
  const orNull: Definitions = {};
  const change = (node: Schema): Schema => {
    const name = nullableName(node);
    if (name === null) return withTags(withRange(withoutLengths(withoutNotes(node))));
    const nullableOf = `${name}OrNull`;
    if (!(nullableOf in orNull)) {
      // Registered before it is made, so that a type can contain itself.
      orNull[nullableOf] = {};
      orNull[nullableOf] = mapSchema(nullable(definitions[name] ?? {}), change);
    }
    return { $ref: `#/definitions/${nullableOf}` };
  };
  return { ...mapDefinitions(definitions, change), ...orNull };
}

/** The name of X in `{ anyOf: [X, null] }`. Returns null for other schemas. */
function nullableName({ anyOf: [first, second, ...others] = [] }: Schema): string | null {
  return first?.$ref && second?.type === 'null' && others.length === 0
    ? definitionName(first.$ref)
    : null;
}

function nullable(schema: Schema): Schema {
  const { type, anyOf, oneOf, discriminator } = schema;
  const isUntaggedUnion = (anyOf ?? oneOf) && !discriminator;
  if (type === undefined || isUntaggedUnion) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [type, 'null'].flat(),
    ...(schema.enum && { enum: [...schema.enum, null] }),
  };
}

function withoutNotes(node: Schema): Schema {
  const {
    description,
    'x-experimental': experimental,
    'x-not-served': notServed,
    'x-null-is-absent': lenient,
    ...schema
  } = node;
  return schema;
}

function withRange(node: Schema): Schema {
  const { format, ...number } = node;
  const range = format === undefined ? undefined : RANGES[format];
  return range ? { ...range, ...number } : node;
}

function withTags(node: Schema): Schema {
  const { discriminator, oneOf } = node;
  if (!discriminator || !oneOf) return node;
  const tag = discriminator.propertyName;
  return {
    ...node,
    required: [tag],
    properties: { [tag]: { enum: oneOf.map((variant) => variant.properties?.[tag]?.const) } },
  };
}

async function inOneModule(code: string): Promise<string> {
  const result = await build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    target: 'node20',
    banner: { js: BANNER },
  });
  return result.outputFiles[0]?.text ?? '';
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
