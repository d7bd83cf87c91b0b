import type { TextRange } from '../protocol/generated/types.ts';

/** A position in a file. Lines and columns count from 1. A null path means that the setting is not from a file. */
export interface ConfigLocation {
  path: string | null;
  range: TextRange | null;
}

export const NO_LOCATION: ConfigLocation = { path: null, range: null };

/** A setting or a file of the configuration is invalid. The message names the file, line and key as far as they are known. */
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
