import { compile } from 'json-schema-to-typescript';
import {
  type Definitions,
  definitionName,
  type MethodTable,
  mapDefinitions,
  type Schema,
  withoutLengths,
} from './bundle.ts';

/** A schema with the additional keyword of json-schema-to-typescript. */
interface TypeSchema extends Schema {
  tsType?: string;
}

const BANNER = '// Generated from schema/ by `npm run generate`. Do not edit.\n';

/**
 * The types of the protocol, with the names of their definitions, and the maps from method to type.
 */
export async function generateTypes(
  definitions: Definitions,
  methods: MethodTable,
): Promise<string> {
  const root = {
    title: 'Root',
    type: 'object',
    definitions: mapDefinitions(definitions, forTypeScript),
  };
  const types = await compile(root as Parameters<typeof compile>[0], 'Root', {
    additionalProperties: false,
    unreachableDefinitions: true,
    bannerComment: '',
    style: { singleQuote: true, printWidth: 140 },
  });
  return `${BANNER}\n${withoutRoot(types)}\n${methodMaps(methods)}`;
}

/**
 * The schema without keywords that are only for validation. Rewrites schemas that would not become
 * a plain type.
 */
function forTypeScript(node: Schema): TypeSchema {
  const {
    discriminator,
    format,
    minimum,
    minLength,
    'x-experimental': experimental,
    'x-not-served': notServed,
    'x-null-is-absent': lenient,
    ...schema
  } = withoutLengths(node);
  if (schema.oneOf) {
    const { type, ...union } = schema;
    return union;
  }
  // A rule about which optional keys must be present is only for validation: in the type they are
  // all optional.
  if (schema.properties && schema.anyOf) {
    const { anyOf, ...object } = schema;
    return object;
  }
  if (schema.type === 'object' && !schema.properties && !schema.additionalProperties)
    return { ...schema, tsType: 'Record<string, never>' };
  if (Object.keys(schema).every((key) => key === 'description'))
    return { ...schema, tsType: 'unknown' };
  return schema;
}

function withoutRoot(types: string): string {
  return types
    .replace(/export interface Root \{[^}]*\}\n/, '')
    .replace(
      / \*\n \* This interface was referenced by `Root`'s JSON-Schema\n \* via the `definition` ".*"\.\n/g,
      '',
    )
    .replace(
      /\/\*\*\n \* This interface was referenced by `Root`'s JSON-Schema\n \* via the `definition` ".*"\.\n \*\/\n/g,
      '',
    );
}

function methodMaps(methods: MethodTable): string {
  const requests: string[] = [];
  for (const [method, row] of Object.entries(methods.clientRequests)) {
    if (row.result) requests.push(member(method, row, pair(row.params ?? null, row.result)));
  }
  const serverRequests = Object.entries(methods.serverRequests).map(([method, row]) =>
    member(method, row, pair(row.params, row.result)),
  );
  const serverNotifications = Object.entries(methods.serverNotifications).map(([method, row]) =>
    member(method, row, definitionName(row.params)),
  );
  const clientNotifications = Object.entries(methods.clientNotifications).map(([method, row]) =>
    member(method, row, 'undefined'),
  );
  return [
    map('ClientRequests', 'The requests that the server serves.', requests),
    map('ServerRequests', 'The requests that the server sends.', serverRequests),
    map(
      'ServerNotifications',
      'The notifications that the server sends, by their params.',
      serverNotifications,
    ),
    map(
      'ClientNotifications',
      'The notifications that the server knows, by their params.',
      clientNotifications,
    ),
  ].join('\n');
}

function member(method: string, { description }: { description: string }, type: string): string {
  return `/** ${description} */\n  '${method}': ${type};`;
}

function pair(params: string | null, result: string): string {
  return `{ params: ${params === null ? 'undefined' : definitionName(params)}; result: ${definitionName(result)} }`;
}

function map(name: string, doc: string, members: string[]): string {
  return `/** ${doc} */\nexport interface ${name} {\n${members.map((member) => `  ${member}\n`).join('')}}\n`;
}
