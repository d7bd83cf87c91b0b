import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A JSON Schema (draft-07), with the keywords that the protocol's schemas use. */
export interface Schema {
  $id?: string;
  $ref?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema | boolean;
  required?: string[];
  properties?: Definitions;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  /** The property that distinguishes the variants of `oneOf`. */
  discriminator?: { propertyName: string };
  definitions?: Definitions;
  /** The field needs the experimental API. A string is the field's name in the error. */
  'x-experimental'?: boolean | string;
  /** The server refuses the field unless it is null, false or empty. */
  'x-not-served'?: true;
  /** Clients may send null for an absent value. The server does not. */
  'x-null-is-absent'?: boolean;
}

export type Definitions = Record<string, Schema>;

/**
 * The content of `schema/methods.json`. The descriptions are for docs/methods.md, the OpenRPC
 * document and generated types.
 */
export interface MethodTable {
  clientRequests: Record<string, ClientRequestRow>;
  serverRequests: Record<string, ServerRequestRow>;
  serverNotifications: Record<string, ServerNotificationRow>;
  clientNotifications: Record<string, { description: string }>;
}

/** A notification of a server. `stability`: only clients with the experimental API get it. */
export interface ServerNotificationRow {
  description: string;
  stability?: 'experimental';
  params: string;
}

/**
 * A request of clients. Without `result` it is known, but not served: then the description says
 * why.
 */
export interface ClientRequestRow {
  description: string;
  stability: 'stable' | 'experimental';
  params?: string | null;
  result?: string;
  /** The notifications that it causes. Absent: none. */
  notifications?: string[];
  /** The codes of its errors, besides those that any request can have. Absent: none. */
  errors?: string[];
  /** How many of the 19 clients that were examined call it. Absent: that is not known. */
  clients?: number;
}

export interface ServerRequestRow {
  description: string;
  params: string;
  result: string;
  /** How many of the 19 clients that were examined answer it. */
  clients: number;
}

/** The content of `schema/errors.json`. */
export interface ErrorTable {
  /**
   * By `error.data.code`: the numbers of JSON-RPC that it comes with, what it means, and what to
   * do.
   */
  codes: Record<string, ErrorRow>;
  /** By the kind in `codexErrorInfo`. One without advice is never sent for a turn that ran here. */
  turnErrors: Record<string, { meaning: string; advice?: string }>;
}

export interface ErrorRow {
  numbers: number[];
  meaning: string;
  advice: string;
  /** True: any request can have this error, so the rows of methods need not name it. */
  any?: true;
}

/** The files of the folder that define no types. */
const TABLES = ['methods.json', 'errors.json'];

/**
 * Reads the resource files of a folder (not `*.schema.json`, which are independent) into one set of
 * definitions. Every `$ref` becomes local (`#/definitions/NAME`). Throws if a name is defined
 * twice, or if a reference has no target.
 */
export function bundleDefinitions(folder: string): Definitions {
  const owners = new Map<string, string>();
  const definitions: Definitions = {};
  const files = readdirSync(folder).filter(
    (file) => file.endsWith('.json') && !file.endsWith('.schema.json') && !TABLES.includes(file),
  );
  for (const file of files.sort()) {
    for (const [name, schema] of Object.entries(readSchema(join(folder, file)).definitions ?? {})) {
      if (owners.has(name))
        throw new Error(`${name} is defined in ${owners.get(name)} and in ${file}`);
      owners.set(name, file);
      definitions[name] = mapSchema(schema, (node) => withOwner(node, file));
    }
  }
  return mapDefinitions(definitions, (node) => withLocalRef(node, owners));
}

export function readMethodTable(folder: string): MethodTable {
  return JSON.parse(readFileSync(join(folder, 'methods.json'), 'utf8')) as MethodTable;
}

export function readErrorTable(folder: string): ErrorTable {
  return JSON.parse(readFileSync(join(folder, 'errors.json'), 'utf8')) as ErrorTable;
}

export function readSchema(file: string): Schema {
  return JSON.parse(readFileSync(file, 'utf8')) as Schema;
}

/**
 * Copies a schema. Applies `change` to all schemas inside it, inner ones first, and to the schema
 * itself last.
 */
export function mapSchema(schema: Schema, change: (node: Schema) => Schema): Schema {
  const copy = { ...schema };
  if (schema.properties) copy.properties = mapDefinitions(schema.properties, change);
  if (typeof schema.items === 'object') copy.items = mapSchema(schema.items, change);
  if (typeof schema.additionalProperties === 'object')
    copy.additionalProperties = mapSchema(schema.additionalProperties, change);
  if (schema.anyOf) copy.anyOf = schema.anyOf.map((variant) => mapSchema(variant, change));
  if (schema.oneOf) copy.oneOf = schema.oneOf.map((variant) => mapSchema(variant, change));
  if (schema.allOf) copy.allOf = schema.allOf.map((part) => mapSchema(part, change));
  return change(copy);
}

/** Applies `mapSchema` to each schema of a set. */
export function mapDefinitions(
  definitions: Definitions,
  change: (node: Schema) => Schema,
): Definitions {
  return Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, mapSchema(schema, change)]),
  );
}

/** The definitions as the server accepts them: fields with `x-null-is-absent` can also be null. */
export function asAccepted(definitions: Definitions): Definitions {
  return mapDefinitions(definitions, (node) => {
    if (!node['x-null-is-absent']) return node;
    const { allOf, ...schema } = node;
    return allOf
      ? { ...schema, anyOf: [...allOf, { type: 'null' }] }
      : { ...schema, type: [schema.type ?? [], 'null'].flat() };
  });
}

/** The name at the end of a reference to a definition. */
export function definitionName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function withOwner(node: Schema, file: string): Schema {
  return node.$ref?.startsWith('#') ? { ...node, $ref: `${file}${node.$ref}` } : node;
}

function withLocalRef(node: Schema, owners: Map<string, string>): Schema {
  if (!node.$ref) return node;
  const local = `#/definitions/${definitionName(node.$ref)}`;
  if (node.$ref !== `${owners.get(definitionName(node.$ref))}${local}`)
    throw new Error(`nothing is defined at ${node.$ref}`);
  return { ...node, $ref: local };
}

/**
 * The schema without limits on an array's length, which are for clients: the handler checks them
 * and has its own messages.
 */
export function withoutLengths(node: Schema): Schema {
  if (node.minItems === undefined) return node;
  const { minItems, maxItems, ...list } = node;
  return list;
}
