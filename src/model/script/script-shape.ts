/**
 * The JSON Schema keywords that schema/model-script.schema.json uses; its other keywords are only
 * for readers.
 */
export interface ScriptShape {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly ScriptShape[];
  items?: ScriptShape;
  properties?: Readonly<Record<string, ScriptShape>>;
  required?: readonly string[];
  additionalProperties?: boolean | ScriptShape;
  minItems?: number;
  minProperties?: number;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  definitions?: Readonly<Record<string, ScriptShape>>;
}
