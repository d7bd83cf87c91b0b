import { type Definitions, definitionName, type MethodTable, type Schema } from './bundle.ts';

interface ExperimentalField {
  name: string;
  path: string[];
}

/** The runtime table of methods, as TypeScript. */
export function generateMethods(definitions: Definitions, methods: MethodTable): string {
  const rows = Object.entries(methods.clientRequests).map(([method, row]) => {
    const served = row.result !== undefined;
    const fields = experimentalFields(definitions, definitions[definitionName(row.params ?? '')] ?? {}, { method, path: [] });
    const params = row.params === null ? 'none' : 'object';
    const list = fields.map((field) => `      ${JSON.stringify(field)},\n`).join('');
    const experimental = list === '' ? '[]' : `[\n${list}    ]`;
    return `  '${method}': { served: ${served}, stability: '${row.stability}', params: '${params}', experimentalFields: ${experimental} },\n`;
  });
  return `${HEAD}${rows.join('')}};\n`;
}

/** The experimental fields below a schema. Does not look inside arrays, where there are none. */
function experimentalFields(definitions: Definitions, schema: Schema, place: { method: string; path: string[] }): ExperimentalField[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (schema.$ref) parts.push(definitions[definitionName(schema.$ref)] ?? {});
  const fields = parts.flatMap((part) => experimentalFields(definitions, part, place));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const path = [...place.path, key];
    const mark = property['x-experimental'];
    if (mark) fields.push({ name: typeof mark === 'string' ? mark : `${place.method}.${path.join('.')}`, path });
    else fields.push(...experimentalFields(definitions, property, { ...place, path }));
  }
  return fields;
}

const HEAD = `// Generated from schema/ by \`npm run generate\`. Do not edit.

export interface MethodInfo {
  /** False if the method belongs to the protocol, but this server refuses it. */
  served: boolean;
  stability: 'stable' | 'experimental';
  /** \`none\`: params may be missing. */
  params: 'object' | 'none';
  /** Fields that need the experimental API: the name in the error, and the path in the params. */
  experimentalFields: readonly { name: string; path: readonly string[] }[];
}

/** Every request of the protocol. */
export const methods: Readonly<Record<string, MethodInfo>> = {
`;
