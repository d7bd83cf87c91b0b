import type { TextRange } from '../../protocol/generated/types.ts';

/**
 * A position in a file. Lines and columns count from 1. A null path means that the setting is not
 * from a file.
 */
export interface ConfigLocation {
  path: string | null;
  range: TextRange | null;
  /** Whether the `config` object of a request gives the setting. */
  isRequests?: true;
}

/**
 * Something to tell about a setting or a file. `details`: the consequence, or what to do; null: the
 * summary says it.
 */
export interface LocatedWarning {
  summary: string;
  details: string | null;
  location: ConfigLocation;
}

export const NO_LOCATION: ConfigLocation = { path: null, range: null };

/**
 * A setting or a file of the configuration is invalid. The message names the file, line and key as
 * far as they are known.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'config_invalid';
  /** The message without the file and the line. */
  readonly problem: string;
  readonly location: ConfigLocation;

  constructor(problem: string, location: ConfigLocation = NO_LOCATION, options?: ErrorOptions) {
    super(`invalid config: ${prefix(location)}${problem}`, options);
    this.problem = problem;
    this.location = location;
  }
}

/** Something that a valid setting needs is not there yet, such as the provider that it names. */
export class IncompleteConfigError extends ConfigError {}

/** Returns what `read` returns; or, if it throws a ConfigError, what `otherwise` makes of that. */
export function readOr<T, Otherwise>(
  read: () => T,
  otherwise: (error: ConfigError) => Otherwise,
): T | Otherwise {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return otherwise(error);
    throw error;
  }
}

function prefix({ path, range }: ConfigLocation): string {
  if (path === null) return '';
  return range === null ? `${path}: ` : `${path}:${range.start.line}:${range.start.column}: `;
}
