import type { Config } from '../config.ts';
import type { Setting } from '../settings.ts';
import { isVariableName, readTexts } from './variables.ts';

/** A table of headers. */
export const HEADERS: Setting<Record<string, string>> = {
  expected: 'a table of header names and single-line string values',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => isHeaderName(key) && isHeaderText(text)),
};

const HEADER_VARIABLES: Setting<Record<string, string>> = {
  expected: 'a table of header names and environment variable names',
  absent: {},
  secret: true,
  read: (value) => readTexts(value, (key, text) => isHeaderName(key) && isVariableName(text)),
};

function isHeaderName(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}

function isHeaderText(text: string): boolean {
  return !/[\r\n\0]/.test(text);
}

/** Returns the headers whose variables are set and not empty. Throws a ConfigError. */
export function headersFromEnv(config: Config, path: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [header, variable] of Object.entries(config.read(path, HEADER_VARIABLES))) {
    const value = Object.hasOwn(config.env, variable) ? config.env[variable] : undefined;
    if (!value) continue;
    if (!isHeaderText(value)) throw config.error([...path, header], `the value of ${variable} must be a single line`);
    headers[header] = value;
  }
  return headers;
}
