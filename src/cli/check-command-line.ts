import { UsageError } from './command-line/usage-error.ts';
import type { CommandSources } from './require-profile.ts';
import { requireValidOverrides } from './require-valid-overrides.ts';

/** The settings of a command line. */
export interface CheckedOptions {
  /** Settings that override config.toml, as `key=value` strings. */
  overrides: readonly string[];
  /** The profile of `--profile`. Null: it names none. */
  profile: string | null;
  strictConfig: boolean;
}

/**
 * Rejects with a UsageError if an override cannot be one or there is no such profile, and with an
 * OptionError if `--strict-config` refuses the configuration. `help`: the command line that prints
 * the help about it. The code for checks is loaded only for options that need it.
 */
export async function checkCommandLine(
  options: CheckedOptions,
  sources: () => Omit<CommandSources, 'overrides'>,
  help = 'heddle --help',
): Promise<void> {
  const { overrides, profile, strictConfig } = options;
  try {
    await requireValidOverrides(overrides);
    if (profile === null && !strictConfig) return;
    const { checkSettings } = await import('./check-settings.ts');
    await checkSettings(options, { ...sources(), overrides });
  } catch (error) {
    if (error instanceof UsageError) error.help = help;
    throw error;
  }
}
