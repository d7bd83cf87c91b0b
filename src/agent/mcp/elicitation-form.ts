import { isObject, type JsonObject } from '../../base/json-value.ts';
import type {
  McpElicitationPrimitiveSchema,
  McpElicitationSchema,
} from '../../protocol/generated/types.ts';

/** The most fields of a form. */
const FIELDS_MAX = 200;

/** The keys that each kind of field may have, for clients that refuse forms with others. */
const TEXT_KEYS = { title: 'string', description: 'string' } as const;
const FIELD_KEYS: Record<string, Readonly<Record<string, string>>> = {
  boolean: { ...TEXT_KEYS, default: 'boolean' },
  number: { ...TEXT_KEYS, minimum: 'number', maximum: 'number', default: 'number' },
  integer: { ...TEXT_KEYS, minimum: 'number', maximum: 'number', default: 'number' },
};

/**
 * The form that a server asks for, with what clients know of it. Null: it is none that a client
 * could show.
 */
export function elicitationForm(schema: unknown): McpElicitationSchema | null {
  if (!isObject(schema) || !isObject(schema.properties)) return null;
  const fields = Object.entries(schema.properties);
  if (fields.length > FIELDS_MAX) return null;
  const properties: Record<string, McpElicitationPrimitiveSchema> = {};
  for (const [name, field] of fields) {
    const read = isObject(field) ? readField(field) : null;
    if (read === null) return null;
    Object.defineProperty(properties, name, {
      value: read,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  const { required } = schema;
  const names = Array.isArray(required)
    ? required.filter((name): name is string => typeof name === 'string')
    : null;
  return { type: 'object', properties, ...(names && { required: names }) };
}

function readField(field: Record<string, unknown>): McpElicitationPrimitiveSchema | null {
  const { type } = field;
  if (type === 'string') return readText(field);
  if (type === 'array') return readChoices(field);
  const keys =
    typeof type === 'string' && Object.hasOwn(FIELD_KEYS, type) ? FIELD_KEYS[type] : undefined;
  return keys === undefined
    ? null
    : ({ type, ...pick(field, keys) } as unknown as McpElicitationPrimitiveSchema);
}

function readText(field: Record<string, unknown>): McpElicitationPrimitiveSchema | null {
  const texts = pick(field, { ...TEXT_KEYS, default: 'string' });
  if (field.enum !== undefined) {
    if (!isTextList(field.enum)) return null;
    const names = isTextList(field.enumNames) ? { enumNames: field.enumNames } : {};
    return { type: 'string', ...texts, enum: field.enum, ...names };
  }
  if (field.oneOf !== undefined) {
    const options = readOptions(field.oneOf);
    return options && { type: 'string', ...texts, oneOf: options };
  }
  const format = ['email', 'uri', 'date', 'date-time'].includes(String(field.format))
    ? { format: String(field.format) }
    : {};
  return {
    type: 'string',
    ...texts,
    ...lengths(field, ['minLength', 'maxLength']),
    ...format,
  } as McpElicitationPrimitiveSchema;
}

function readChoices(field: Record<string, unknown>): McpElicitationPrimitiveSchema | null {
  const { items } = field;
  if (!isObject(items)) return null;
  const options = items.anyOf === undefined ? null : readOptions(items.anyOf);
  const enumeration = isTextList(items.enum) ? { type: 'string' as const, enum: items.enum } : null;
  const read = options === null ? enumeration : { anyOf: options };
  if (read === null) return null;
  const chosen = isTextList(field.default) ? { default: field.default } : {};
  return {
    type: 'array',
    ...pick(field, TEXT_KEYS),
    ...lengths(field, ['minItems', 'maxItems']),
    items: read,
    ...chosen,
  };
}

function readOptions(value: unknown): { const: string; title: string }[] | null {
  if (!Array.isArray(value)) return null;
  const options = value.map((option: unknown) =>
    isObject(option) && typeof option.const === 'string'
      ? { const: option.const, title: String(option.title ?? option.const) }
      : null,
  );
  return options.every((option) => option !== null) ? options : null;
}

function lengths(field: Record<string, unknown>, keys: readonly string[]): Record<string, number> {
  const isLength = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0;
  return Object.fromEntries(
    keys.flatMap((key) => (isLength(field[key]) ? [[key, field[key]]] : [])),
  );
}

function pick(field: Record<string, unknown>, keys: Readonly<Record<string, string>>): JsonObject {
  const entries = Object.entries(keys).flatMap(([key, type]) =>
    typeof field[key] === type ? [[key, field[key]]] : [],
  );
  return Object.fromEntries(entries) as JsonObject;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
