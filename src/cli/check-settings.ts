import { requireKnownKeys } from './require-known-keys.ts';
import { type CommandSources, requireProfile } from './require-profile.ts';

interface CheckedOptions {
  /** The profile of the command line. Null: it names none. */
  profile: string | null;
  strictConfig: boolean;
  /** The command line that prints the help, for a UsageError. */
  help: string;
}

/**
 * Rejects with a UsageError if there is no such profile, and with an OptionError if
 * `--strict-config` refuses the configuration.
 */
export async function checkSettings(
  { profile, strictConfig, help }: CheckedOptions,
  sources: CommandSources,
): Promise<void> {
  if (profile !== null) await requireProfile(profile, sources, help);
  if (strictConfig) await requireKnownKeys(sources);
}
