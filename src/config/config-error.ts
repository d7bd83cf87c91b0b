import type { TextRange } from '../protocol/generated/types.ts';

/** Where in a file something stands; lines and columns count from 1. A null path: not in a file. */
export interface ConfigLocation {
  path: string | null;
  range: TextRange | null;
}

export const NO_LOCATION: ConfigLocation = { path: null, range: null };

/** The configuration cannot be used for what was asked of it. The message names file, line and key where they are known. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'config_invalid';
  readonly location: ConfigLocation;

  constructor(problem: string, location: ConfigLocation = NO_LOCATION, options?: ErrorOptions) {
    super(`invalid config: ${prefix(location)}${problem}`, options);
    this.location = location;
  }
}

function prefix({ path, range }: ConfigLocation): string {
  if (path === null) return '';
  return range === null ? `${path}: ` : `${path}:${range.start.line}:${range.start.column}: `;
}
