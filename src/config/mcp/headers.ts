import type { Setting } from '../settings.ts';
import { isVariableName, readTexts } from './variables.ts';

/** A table of headers. */
export const HEADERS: Setting<Record<string, string>> = {
  expected: 'a table of header names and single-line string values',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => isHeaderName(key) && isHeaderText(text)),
};

export const HEADER_VARIABLES: Setting<Record<string, string>> = {
  expected: 'a table of header names and environment variable names',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => isHeaderName(key) && isVariableName(text)),
};

function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

export function isHeaderText(text: string): boolean {
  return !/[\r\n\0]/.test(text);
}
