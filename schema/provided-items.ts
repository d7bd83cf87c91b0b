import { type Definitions, definitionName, type Schema } from './bundle.ts';

/**
 * The fields that the server reads of an item that a provider sends, by type of item. `needed`
 * fields are required; the others may be absent or null. Nothing else is checked, so that items of
 * newer providers pass.
 */
const READ_FIELDS: Record<string, { needed: string[]; optional: string[] }> = {
  message: { needed: ['role', 'content'], optional: ['id', 'phase'] },
  reasoning: { needed: ['summary'], optional: ['id', 'content', 'encrypted_content'] },
  function_call: { needed: ['call_id', 'name', 'arguments'], optional: ['id', 'namespace'] },
  custom_tool_call: { needed: ['call_id', 'name', 'input'], optional: ['id'] },
  local_shell_call: { needed: ['status', 'action'], optional: ['id', 'call_id'] },
  web_search_call: { needed: [], optional: ['id', 'status', 'action'] },
  image_generation_call: { needed: ['id'], optional: ['status', 'result'] },
};

/**
 * The field that the server reads of the parts of a message or of reasoning, whatever their type.
 */
const PART_FIELD = 'text';

/**
 * The definitions of the items that providers send, by type of item: `ResponseItem` reduced to the
 * fields that the server reads. An enum accepts any string, and a part can have any type. Items of
 * other types are not checked.
 */
export function providedItems(definitions: Definitions): Definitions {
  const variants = definitions.ResponseItem?.oneOf ?? [];
  const entries = Object.entries(READ_FIELDS).map(([type, { needed, optional }]) => {
    const properties =
      variants.find((variant) => variant.properties?.type?.const === type)?.properties ?? {};
    const field = (name: string): Schema => {
      const schema = properties[name];
      if (schema === undefined) throw new Error(`${type} has no field "${name}"`);
      return tolerant(schema, definitions);
    };
    const fields = [
      ...needed.map((name) => [name, withoutNull(field(name))]),
      ...optional.map((name) => [name, withNull(field(name))]),
    ];
    return [type, { type: 'object', required: needed, properties: Object.fromEntries(fields) }];
  });
  return Object.fromEntries(entries);
}

function tolerant(schema: Schema, definitions: Definitions): Schema {
  if (schema.$ref !== undefined)
    return tolerant(definitions[definitionName(schema.$ref)] ?? {}, definitions);
  const [first] = schema.anyOf ?? [];
  if (first !== undefined) return tolerant(first, definitions);
  if (schema.discriminator !== undefined)
    return tolerantUnion(schema, schema.discriminator.propertyName);
  const { type = 'object', items } = schema;
  return { type, ...(typeof items === 'object' && { items: tolerant(items, definitions) }) };
}

function tolerantUnion({ oneOf = [] }: Schema, tag: string): Schema {
  const hasText = oneOf.some(({ properties = {} }) => PART_FIELD in properties);
  // The server switches on the type of an object only where there are several types.
  if (!hasText && oneOf.length === 1) return { type: 'object' };
  return {
    type: 'object',
    required: [tag],
    properties: {
      [tag]: { type: 'string' },
      ...(hasText && { [PART_FIELD]: { type: ['string', 'null'] } }),
    },
  };
}

function withNull(schema: Schema): Schema {
  return { ...schema, type: [...new Set([schema.type ?? [], 'null'].flat())] };
}

function withoutNull(schema: Schema): Schema {
  const [type = 'object', ...others] = [schema.type ?? []].flat().filter((each) => each !== 'null');
  return { ...schema, type: others.length === 0 ? type : [type, ...others] };
}
