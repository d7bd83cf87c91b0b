import {
  asAccepted,
  bundleDefinitions,
  type Definitions,
  definitionName,
  type MethodTable,
  mapDefinitions,
  readMethodTable,
  type Schema,
} from '../../../schema/bundle.ts';

/** The published part of the protocol: the methods that are served, and their types. */
export interface ProtocolSchemas {
  /** By name. Each `$ref` is `#/definitions/NAME`. Only has keywords of JSON Schema. */
  definitions: Definitions;
  methods: MethodTable;
}

/**
 * Reads the schema files of a folder. Leaves out the experimental API unless `experimental` is set.
 */
export function readProtocolSchemas(folder: string, experimental: boolean): ProtocolSchemas {
  const { clientRequests, ...others } = readMethodTable(folder);
  const served = Object.entries(clientRequests).filter(
    ([, row]) => row.result !== undefined && (experimental || row.stability === 'stable'),
  );
  const accepted = asAccepted(bundleDefinitions(folder));
  const allowed = experimental ? accepted : mapDefinitions(accepted, withoutExperimental);
  return {
    definitions: mapDefinitions(allowed, published),
    methods: { ...others, clientRequests: Object.fromEntries(served) },
  };
}

/** The definitions with these names and all that they refer to, sorted by name. */
export function reachable(definitions: Definitions, names: readonly string[]): Definitions {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const reference of referencesIn(definitions[name] ?? {})) visit(reference);
  };
  for (const name of names) visit(name);
  return Object.fromEntries([...found].sort().map((name) => [name, definitions[name] ?? {}]));
}

/** The names of the definitions that a schema refers to, sorted. */
export function referencesIn(schema: Schema): string[] {
  const names = new Set<string>();
  mapDefinitions({ schema }, (node) => {
    if (node.$ref) names.add(definitionName(node.$ref));
    return node;
  });
  return [...names].sort();
}

/**
 * The schema without experimental fields, except required ones, which distinguish the variants of a
 * union.
 */
function withoutExperimental(node: Schema): Schema {
  if (!node.properties) return node;
  const kept = Object.entries(node.properties).filter(
    ([key, property]) => !property['x-experimental'] || node.required?.includes(key),
  );
  return { ...node, properties: Object.fromEntries(kept) };
}

/**
 * The schema without keywords that only this project knows. The description mentions the
 * experimental API instead.
 */
function published(node: Schema): Schema {
  const {
    'x-experimental': experimental,
    'x-not-served': notServed,
    'x-null-is-absent': nullIsAbsent,
    discriminator,
    ...schema
  } = node;
  if (!experimental) return schema;
  return {
    ...schema,
    description: ['Needs the experimental API.', schema.description ?? []].flat().join(' '),
  };
}
