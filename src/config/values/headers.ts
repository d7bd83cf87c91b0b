import type { Config } from '../config.ts';
import type { Setting } from '../settings/setting.ts';
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

/** Returns the variables of a table of headers that are not set, or empty. Throws a ConfigError. */
export function unsetHeaderVariables(config: Config, path: readonly string[]): string[] {
  return Object.values(config.read(path, HEADER_VARIABLES)).filter(
    (variable) => !variableValue(config, variable),
  );
}

/** Returns the headers whose variables are set and not empty. Throws a ConfigError. */
export function headersFromEnv(config: Config, path: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [header, variable] of Object.entries(config.read(path, HEADER_VARIABLES))) {
    const value = variableValue(config, variable);
    if (!value) continue;
    if (!isHeaderText(value))
      throw config.error([...path, header], `the value of ${variable} must be a single line`);
    headers[header] = value;
  }
  return headers;
}

/** Ignores inherited properties: the name comes from the configuration. */
function variableValue({ env }: Config, variable: string): string | undefined {
  return Object.hasOwn(env, variable) ? env[variable] : undefined;
}
