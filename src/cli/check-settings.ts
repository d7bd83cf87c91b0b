import { requireKnownKeys } from './require-known-keys.ts';
import { type CommandSources, requireProfile } from './require-profile.ts';

/** The settings of a command line. */
export interface CheckedOptions {
  /** Settings that override config.toml, as `key=value` strings. */
  overrides: readonly string[];
  /** The profile of the command line. Null: it names none. */
  profile: string | null;
  strictConfig?: boolean;
  /** The working directory as the command line names it. Null: it names none. */
  cwd?: string | null;
}

/**
 * Rejects with a UsageError if there is no such profile, and with an OptionError if
 * `--strict-config` refuses the configuration.
 */
export async function checkSettings(
  { profile, strictConfig }: Required<Pick<CheckedOptions, 'profile' | 'strictConfig'>>,
  sources: CommandSources,
): Promise<void> {
  if (profile !== null) await requireProfile(profile, sources);
  if (strictConfig) await requireKnownKeys(sources);
}
