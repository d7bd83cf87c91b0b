import { invalidCursor } from '../store-error.ts';

type CursorPart = string | number;

/** Writes down a place in a list, in a form that clients pass back unread. */
export function encodeCursor(parts: CursorPart[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Reads a cursor whose parts are like those of `pattern`, value by value of the same type. Throws `invalid_cursor`. */
export function decodeCursor<const T extends CursorPart[]>(
  cursor: string,
  pattern: T,
): { [K in keyof T]: T[K] extends string ? string : number } {
  const parts = parse(cursor);
  const fits =
    Array.isArray(parts) && parts.length === pattern.length && pattern.every((part, index) => typeof parts[index] === typeof part);
  if (!fits) throw invalidCursor(cursor);
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
