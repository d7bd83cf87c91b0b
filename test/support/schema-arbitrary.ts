import fc from 'fast-check';
import type { Schema } from '../../schema/bundle.ts';

type Arbitrary = fc.Arbitrary<unknown>;

const RANGES: Record<string, { min: number; max: number }> = {
  int32: { min: -(2 ** 31), max: 2 ** 31 - 1 },
  uint16: { min: 0, max: 2 ** 16 - 1 },
  uint32: { min: 0, max: 2 ** 32 - 1 },
  uint: { min: 0, max: Number.MAX_SAFE_INTEGER },
  uint64: { min: 0, max: Number.MAX_SAFE_INTEGER },
};

/**
 * Random values that are valid under a schema: any of its variants, any subset of the optional
 * keys, and unknown keys beside them where the schema lets them be. `root` is the document that the
 * schema's references point into. Knows the keywords that the protocol's schemas use, and throws at
 * others, at recursive schemas too.
 */
export function schemaArbitrary(schema: Schema | boolean, root: Schema): Arbitrary {
  return build(schema, { root, inside: [] });
}

interface Context {
  root: Schema;
  /** The references that lead here. */
  inside: string[];
}

function build(schema: Schema | boolean, context: Context): Arbitrary {
  if (schema === true) return fc.jsonValue();
  if (schema === false) throw new Error('nothing is valid under the schema false');
  if (schema.$ref) return buildRef(schema.$ref, context);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants && schema.properties)
    return fc.oneof(
      ...variants.map((variant) => buildObject(withVariant(schema, variant), context)),
    );
  if (variants) return fc.oneof(...variants.map((variant) => build(variant, context)));
  if (schema.allOf) return build(onlyPart(schema.allOf), context);
  const types = [schema.type ?? (schema.properties ? 'object' : 'any')].flat();
  return fc.oneof(...types.map((type) => buildType(type, schema, context)));
}

function buildRef(ref: string, { root, inside }: Context): Arbitrary {
  if (inside.includes(ref)) throw new Error(`recursive: ${ref}`);
  const definition = root.definitions?.[ref.replace('#/definitions/', '')];
  if (definition === undefined) throw new Error(`not defined: ${ref}`);
  return build(definition, { root, inside: [...inside, ref] });
}

function buildType(type: string, schema: Schema, context: Context): Arbitrary {
  switch (type) {
    case 'any':
      return fc.jsonValue();
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'string':
      return fc.string({ unit: 'grapheme', minLength: schema.minLength ?? 0 });
    case 'integer':
      return fc.integer(rangeOf(schema));
    case 'array':
      return fc.array(build(schema.items ?? true, context), { maxLength: 4 });
    case 'object':
      return buildObject(schema, context);
    default:
      throw new Error(`type ${type}`);
  }
}

function rangeOf({ format = '', minimum = Number.MIN_SAFE_INTEGER }: Schema): {
  min: number;
  max: number;
} {
  const range = RANGES[format] ?? { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
  return { min: Math.max(range.min, minimum), max: range.max };
}

function buildObject(
  { properties = {}, required = [], additionalProperties = true }: Schema,
  context: Context,
): Arbitrary {
  const fields = Object.entries(properties).map(
    ([key, property]) => [key, build(property, context)] as const,
  );
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: required });
  if (additionalProperties === false) return known;
  const unknownKey = fc.string({ maxLength: 8 }).map((key) => `x-${key}`);
  const unknown = fc.dictionary(unknownKey, build(additionalProperties, context), { maxKeys: 2 });
  return fc.tuple(unknown, known).map(([others, own]) => ({ ...others, ...own }));
}

/** An object schema with one of its variants: the fields of both, the variant's in front. */
function withVariant({ anyOf, oneOf, ...schema }: Schema, variant: Schema): Schema {
  return {
    ...schema,
    properties: { ...schema.properties, ...variant.properties },
    required: [...(schema.required ?? []), ...(variant.required ?? [])],
  };
}

function onlyPart([part, ...others]: Schema[]): Schema {
  if (!part || others.length > 0) throw new Error('allOf with other than one part');
  return part;
}
