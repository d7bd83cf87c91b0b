// Generated from schema/ by `npm run generate`. Do not edit.
/** Whether a value is valid. If not, `errors` says why, until the next call. */
export interface Validator {
  (value: unknown): boolean;
  errors?: ValidationError[] | null;
}

/** An error of ajv. `instancePath` is a JSON pointer; `params` depend on the keyword. */
export interface ValidationError {
  instancePath: string;
  keyword: string;
  params: Record<string, unknown>;
}

export declare const validateProvidedItem: Readonly<Record<string, Validator>>;
