import type { ConfigSources } from '../config/load-config.ts';
import { requireValidOverrides } from './require-valid-overrides.ts';

interface CheckedOptions {
  /** The profile of the command line. Null: it names none. */
  profile: string | null;
  strictConfig: boolean;
}

/**
 * Rejects with a UsageError if the command line has a setting that is wrong whatever clients do, and with an OptionError if
 * `--strict-config` refuses the configuration. Loads the code for that only if it is needed.
 */
export async function checkSettings(
  { profile, strictConfig }: CheckedOptions,
  sources: Omit<ConfigSources, 'trustedFiles'>,
): Promise<void> {
  await requireValidOverrides(sources.overrides);
  if (profile !== null) await (await import('./require-profile.ts')).requireProfile(profile, sources);
  if (strictConfig) await (await import('./require-known-keys.ts')).requireKnownKeys(sources);
}
