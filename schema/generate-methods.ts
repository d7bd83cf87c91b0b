import { type Definitions, definitionName, type MethodTable, type Schema } from './bundle.ts';

interface MarkedField {
  name: string;
  path: string[];
}

type Mark = 'x-experimental' | 'x-not-served';

/** The runtime table of methods, as TypeScript. */
export function generateMethods(definitions: Definitions, methods: MethodTable): string {
  const rows = Object.entries(methods.clientRequests).map(([method, row]) => {
    const served = row.result !== undefined;
    const schema = definitions[definitionName(row.params ?? '')] ?? {};
    const params = row.params === null ? 'none' : 'object';
    const fields = (mark: Mark) =>
      fieldList(markedFields(definitions, schema, { mark, method, path: [] }));
    const unserved = fields('x-not-served');
    const facts = `served: ${served}, stability: '${row.stability}', params: '${params}', experimentalFields: ${fields('x-experimental')}`;
    return `  '${method}': { ${facts}${unserved === '[]' ? '' : `, notServedFields: ${unserved}`} },\n`;
  });
  const names = (name: string, comment: string, of: object) =>
    `\n/** ${comment} */\nexport const ${name}: readonly string[] = [\n${Object.keys(of)
      .map((method) => `  '${method}',\n`)
      .join('')}];\n`;
  const others = [
    names('serverRequests', 'Every request of a server.', methods.serverRequests),
    names('serverNotifications', 'Every notification of a server.', methods.serverNotifications),
    names(
      'experimentalNotifications',
      'The notifications that only clients with the experimental API get.',
      Object.fromEntries(
        Object.entries(methods.serverNotifications).filter(([, { stability }]) => stability),
      ),
    ),
  ];
  return `${HEAD}${rows.join('')}};\n${others.join('')}`;
}

function fieldList(fields: readonly MarkedField[]): string {
  const list = fields.map((field) => `      ${JSON.stringify(field)},\n`).join('');
  return list === '' ? '[]' : `[\n${list}    ]`;
}

/**
 * The fields below a schema that have the mark. Does not look inside arrays, where there are none.
 */
function markedFields(
  definitions: Definitions,
  schema: Schema,
  place: { mark: Mark; method: string; path: string[] },
): MarkedField[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (schema.$ref) parts.push(definitions[definitionName(schema.$ref)] ?? {});
  const fields = parts.flatMap((part) => markedFields(definitions, part, place));
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const path = [...place.path, key];
    const mark = property[place.mark];
    if (mark)
      fields.push({
        name: typeof mark === 'string' ? mark : `${place.method}.${path.join('.')}`,
        path,
      });
    else fields.push(...markedFields(definitions, property, { ...place, path }));
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
  /** Fields that this server refuses unless they are empty. Absent: none. */
  notServedFields?: readonly { name: string; path: readonly string[] }[];
}

/** Every request of the protocol. */
export const methods: Readonly<Record<string, MethodInfo>> = {
`;
