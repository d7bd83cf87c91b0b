import {
  type Definitions,
  definitionName,
  type MethodTable,
  type Schema,
} from '../../../schema/bundle.ts';
import { readProtocolSchemas } from '../generate/protocol-schemas.ts';

/**
 * Descriptions of a value, of which one or more apply: schemas without references and unions.
 * Empty: nothing is known.
 */
export type Shape = readonly Schema[];

/**
 * The methods of the protocol, and the fields and values of their params and results, from its
 * schemas.
 */
export class ProtocolFields {
  readonly #definitions: Definitions;
  readonly #table: MethodTable;

  /** Reads the schema files of a folder. */
  constructor(schemaDir: string) {
    const { definitions, methods } = readProtocolSchemas(schemaDir, true);
    this.#definitions = definitions;
    this.#table = methods;
  }

  /** The methods that a client can send, sorted. */
  get methods(): string[] {
    return [
      ...Object.keys(this.#table.clientRequests),
      ...Object.keys(this.#table.clientNotifications),
    ].sort();
  }

  get serverRequests(): string[] {
    return Object.keys(this.#table.serverRequests);
  }

  get serverNotifications(): string[] {
    return Object.keys(this.#table.serverNotifications);
  }

  isNotification(method: string): boolean {
    return Object.hasOwn(this.#table.clientNotifications, method);
  }

  params(method: string): Shape {
    const row = Object.hasOwn(this.#table.clientRequests, method)
      ? this.#table.clientRequests[method]
      : undefined;
    return this.#named(row?.params);
  }

  /** The result of a request of the server. */
  result(method: string): Shape {
    return this.#named(this.#table.serverRequests[method]?.result);
  }

  /** The shape of a field, or of the elements of a list if the name is null. */
  field(shape: Shape, name: string | null): Shape {
    return shape.flatMap(({ properties = {}, additionalProperties, items }) => {
      if (name === null) return typeof items === 'object' ? this.shape(items) : [];
      if (Object.hasOwn(properties, name)) return this.shape(properties[name] ?? {});
      return typeof additionalProperties === 'object' ? this.shape(additionalProperties) : [];
    });
  }

  at(shape: Shape, path: readonly (string | null)[]): Shape {
    return path.reduce<Shape>((outer, name) => this.field(outer, name), shape);
  }

  /** The schema without references and unions. */
  shape(schema: Schema): Shape {
    if (schema.$ref !== undefined) return this.#named(schema.$ref);
    const { anyOf = [], oneOf = [], allOf = [], ...own } = schema;
    const parts = [...anyOf, ...oneOf, ...allOf].flatMap((part) => this.shape(part));
    return parts.length === 0 || own.properties !== undefined ? [own, ...parts] : parts;
  }

  #named(reference: string | null | undefined): Shape {
    return reference == null ? [] : this.shape(this.#definitions[definitionName(reference)] ?? {});
  }
}

/** The names of the fields of an object, without repetition. */
export function namesIn(shape: Shape): string[] {
  return [...new Set(shape.flatMap(({ properties = {} }) => Object.keys(properties)))];
}

/** The fields without which the object is not valid, whatever applies to it. */
export function requiredIn(shape: Shape): string[] {
  const objects = shape.filter(({ properties }) => properties !== undefined);
  return namesIn(shape).filter((name) =>
    objects.every(({ required = [] }) => required.includes(name)),
  );
}

/** The values that the schemas list, without null. */
export function valuesIn(shape: Shape): unknown[] {
  const all = shape.flatMap(({ enum: values = [], const: only, type }) => [
    ...values,
    ...(only === undefined ? [] : [only]),
    ...([type].flat().includes('boolean') ? [true, false] : []),
  ]);
  return [...new Set(all)].filter((value) => value !== null);
}

/** The names of the types of JSON that the value can have. Empty: any. */
export function typesIn(shape: Shape): string[] {
  return [...new Set(shape.flatMap(({ type = [] }) => type))];
}
