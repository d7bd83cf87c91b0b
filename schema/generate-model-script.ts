import { compile } from 'json-schema-to-typescript';
import { mapDefinitions, mapSchema, type Schema } from './bundle.ts';

const BANNER =
  '// Generated from schema/model-script.schema.json by `npm run generate`. Do not edit.\n';

/**
 * The types of a model script (`ModelScript` and its parts), and the schema that the server
 * validates scripts with.
 */
export async function generateModelScript(schema: Schema): Promise<string> {
  const checked = `/** The schema without notes for readers. */\nexport const modelScriptSchema = ${JSON.stringify(withoutNotes(schema))};`;
  return `${BANNER}\n${await generateTypes(schema)}\n${checked}\n`;
}

async function generateTypes({ definitions = {}, ...main }: Schema): Promise<string> {
  const root = { ...mapSchema(main, plain), definitions: mapDefinitions(definitions, plain) };
  const types = await compile(root as Parameters<typeof compile>[0], 'ModelScript', {
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 140 },
  });
  return types
    .replace(
      /\/\*\*\n \* This interface was referenced by .*\n \* via the `definition` .*\n \*\/\n/g,
      '',
    )
    .replace(/ \*\n \* This interface was referenced by .*\n \* via the `definition` .*\n/g, '');
}

/**
 * The schema without keywords that would become a type's name or comment. A reference stays alone.
 */
function plain(node: Schema): Schema {
  if (node.$ref !== undefined) return { $ref: node.$ref };
  const {
    examples: _examples,
    minProperties: _minProperties,
    ...schema
  } = node as Schema & { examples?: unknown; minProperties?: unknown };
  return schema;
}

function withoutNotes({ definitions = {}, ...main }: Schema): Schema {
  return { ...mapSchema(main, checked), definitions: mapDefinitions(definitions, checked) };
}

function checked(node: Schema): Schema {
  const {
    $schema: _schema,
    title: _title,
    description: _description,
    examples: _examples,
    ...rest
  } = node as Schema & Notes;
  return rest;
}

interface Notes {
  $schema?: unknown;
  title?: unknown;
  examples?: unknown;
}
