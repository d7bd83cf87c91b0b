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

/** What is published of the protocol: the methods that are served, and the types that they are made of. */
export interface ProtocolSchemas {
  /** By name; each `$ref` is `#/definitions/NAME`. No keywords but those of JSON Schema. */
  definitions: Definitions;
  methods: MethodTable;
}

/** Reads the schema files of a folder. Without `experimental`, what needs the experimental API is left out. */
export function readProtocolSchemas(folder: string, experimental: boolean): ProtocolSchemas {
  const { clientRequests, ...others } = readMethodTable(folder);
  const served = Object.entries(clientRequests).filter(
    ([, row]) => row.result !== undefined && (experimental || row.stability === 'stable'),
  );
  const accepted = asAccepted(bundleDefinitions(folder));
  const allowed = experimental ? accepted : mapDefinitions(accepted, withoutExperimental);
  return { definitions: mapDefinitions(allowed, published), methods: { ...others, clientRequests: Object.fromEntries(served) } };
}

/** The definitions that these names need, themselves among them, sorted. */
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

/** A field that its type cannot be without stays: it tells one variant of a union from the others. */
function withoutExperimental(node: Schema): Schema {
  if (!node.properties) return node;
  const kept = Object.entries(node.properties).filter(([key, property]) => !property['x-experimental'] || node.required?.includes(key));
  return { ...node, properties: Object.fromEntries(kept) };
}

/** Marks that only this project reads are said in words or left out. */
function published(node: Schema): Schema {
  const { 'x-experimental': experimental, 'x-null-is-absent': nullIsAbsent, discriminator, ...schema } = node;
  if (!experimental) return schema;
  return { ...schema, description: ['Needs the experimental API.', schema.description ?? []].flat().join(' ') };
}
