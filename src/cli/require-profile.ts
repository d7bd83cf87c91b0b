import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigSources, loadConfig } from '../config/load-config.ts';
import { profileFile } from '../config/profile-files.ts';
import { ConfigError } from '../config/toml/config-error.ts';
import { isTable } from '../config/toml/config-table.ts';
import { TrustRecordFile } from '../config/trust/trust-record-file.ts';
import { UsageError } from './command-line/usage-error.ts';

/** The profiles that the message names. */
const NAMED_MAX = 20;

/** The sources of a command, which gives its settings as `key=value` strings. */
export type CommandSources = Omit<ConfigSources, 'trustedFiles'> & { overrides: readonly string[] };

/**
 * Rejects with a UsageError if no file has the profile of the command line. If the configuration
 * cannot be read, the server tells about that, as without a profile.
 */
export async function requireProfile(profile: string, sources: CommandSources): Promise<void> {
  const { home } = sources;
  const file = profileFile(profile);
  if (file !== null && existsSync(join(home, file))) return;
  const overrides = sources.overrides.filter((one) => !one.startsWith('profile='));
  const trustedFiles = new TrustRecordFile({ home, writes: false });
  const config = await loadConfig({ ...sources, overrides, trustedFiles }).catch(
    (error: unknown) => {
      if (error instanceof ConfigError) return null;
      throw error;
    },
  );
  if (config === null) return;
  const { profiles } = config.values;
  const names = isTable(profiles) ? Object.keys(profiles) : [];
  if (names.includes(profile)) return;
  const known =
    names.length === 0
      ? 'config.toml has no profiles'
      : `config.toml has ${names.slice(0, NAMED_MAX).join(', ')}`;
  const missing = file === null ? '' : `, and there is no ${file} in ${home}`;
  throw new UsageError(`--profile ${profile}: there is no such profile: ${known}${missing}`);
}
