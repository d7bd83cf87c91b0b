/**
 * The JSON Schema keywords that schema/model-script.schema.json uses; its other keywords are only
 * for readers.
 */
export interface Shape {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Shape[];
  items?: Shape;
  properties?: Readonly<Record<string, Shape>>;
  required?: readonly string[];
  additionalProperties?: boolean | Shape;
  minItems?: number;
  minProperties?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  definitions?: Readonly<Record<string, Shape>>;
}
