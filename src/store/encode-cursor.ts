import { invalidStoreCursor } from './store-error.ts';

type CursorPart = string | number;

/** Encodes a position in a list as a string that is opaque to clients. */
export function encodeCursor(parts: CursorPart[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * Decodes a cursor. Each part must have the type of the value at its index in `pattern`. Throws
 * `invalid_cursor`.
 */
export function decodeCursor<const T extends CursorPart[]>(
  cursor: string,
  pattern: T,
): { [K in keyof T]: T[K] extends string ? string : number } {
  const parts = parse(cursor);
  const fits =
    Array.isArray(parts) &&
    parts.length === pattern.length &&
    pattern.every((part, index) => typeof parts[index] === typeof part);
  if (!fits) throw invalidStoreCursor(cursor);
  return parts as { [K in keyof T]: T[K] extends string ? string : number };
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
