import { definitionName, type Schema } from '../../../schema/bundle.ts';

/**
 * A schema as a TypeScript type. `indent` precedes each line but the first. A reference becomes the
 * type of that name.
 */
export function typeText(schema: Schema | boolean, indent = ''): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never';
  const { $ref, const: value, enum: values, allOf, anyOf, oneOf, properties } = schema;
  if ($ref) return definitionName($ref);
  if (value !== undefined) return JSON.stringify(value);
  if (values) return either(values.map((each) => JSON.stringify(each)));
  if (allOf) return allOf.map((part) => typeText(part, indent)).join(' & ');
  const variants = oneOf ?? anyOf;
  // A rule about which optional keys must be present is for validation only: in the type they are
  // all optional.
  if (variants && !properties) return either(variants.map((variant) => typeText(variant, indent)));
  return either(
    [schema.type ?? (properties ? 'object' : 'unknown')]
      .flat()
      .map((type) => plainType(type, schema, indent)),
  );
}

/**
 * A description as a doc comment with a line end, or an empty string if there is no description.
 */
export function docText(description: string | undefined, indent = ''): string {
  return description === undefined
    ? ''
    : `${indent}/** ${description.replaceAll('*/', '* /')} */\n`;
}

function plainType(type: string, schema: Schema, indent: string): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return arrayType(schema, indent);
    case 'object':
      return objectType(schema, indent);
    default:
      // string, number, boolean, null, unknown
      return type;
  }
}

function arrayType({ items = true, maxItems }: Schema, indent: string): string {
  return maxItems === 0 ? '[]' : `Array<${typeText(items, indent)}>`;
}

function objectType(
  { properties = {}, required = [], additionalProperties = false }: Schema,
  indent: string,
): string {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([key, property]) => {
    const optional = required.includes(key) ? '' : '?';
    return `${docText(property.description, inner)}${inner}${keyText(key)}${optional}: ${typeText(property, inner)};\n`;
  });
  if (additionalProperties !== false)
    members.push(`${inner}[key: string]: ${typeText(additionalProperties, inner)};\n`);
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}${indent}}`;
}

function keyText(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

function either(types: string[]): string {
  return [...new Set(types)].join(' | ');
}
