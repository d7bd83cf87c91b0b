import { join } from 'node:path';
import { readSchema, type Schema } from '../../schema/bundle.ts';
import { isObject } from '../../src/base/json-value.ts';

const NAMES = [
  'ItemStartedNotification',
  'ThreadForkParams',
  'ThreadResumeParams',
  'TurnStartParams',
] as const;
type Name = (typeof NAMES)[number];

/**
 * The values that a type allows in a required schema: those of an enum, or the tags of a union.
 * Empty: the schema has no such type.
 */
export function requiredValues(name: Name, type: string): string[] {
  return [...new Set(valuesIn(definitions(name)[type]))];
}

/** The types with values in all required schemas, with their values. */
export function requiredEnums(): Map<string, string[]> {
  const enums = new Map<string, string[]>();
  for (const name of NAMES) {
    for (const type of Object.keys(definitions(name))) {
      const values = new Set([...(enums.get(type) ?? []), ...requiredValues(name, type)]);
      if (values.size > 0) enums.set(type, [...values].sort());
    }
  }
  return enums;
}

function definitions(name: Name): Record<string, unknown> {
  return (
    (readSchema(join(import.meta.dirname, 'required', `${name}.json`)) as Schema).definitions ?? {}
  );
}

function valuesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(valuesIn);
  if (!isObject(schema)) return [];
  const own = Array.isArray(schema.enum) ? schema.enum.map(String) : [];
  return [
    ...own,
    ...Object.values(schema).flatMap((part) => (typeof part === 'object' ? valuesIn(part) : [])),
  ];
}
