import type { Config } from '../../src/config/config.ts';
import { type ConfigSources, loadConfig } from '../../src/config/load-config.ts';
import { ConfigError } from '../../src/config/toml/config-error.ts';
import { TrustRecordFile } from '../../src/config/trust/trust-record-file.ts';
import { tempFolder } from './temp-folder.ts';

/** Loads a config.toml with this text, and the other given sources. */
export function load(text: string, sources: Partial<ConfigSources> = {}): Promise<Config> {
  const home = tempFolder({ 'config.toml': text });
  return loadConfig(sourcesIn(home, sources));
}

/**
 * The sources of a home, without an environment and overrides, and with the home as the working
 * directory.
 */
export function sourcesIn(home: string, sources: Partial<ConfigSources> = {}): ConfigSources {
  return {
    home,
    cwd: home,
    env: {},
    overrides: [],
    trustedFiles: new TrustRecordFile({ home }),
    ...sources,
  };
}

/** Returns the ConfigError that `run` throws or rejects with. */
export async function configErrorOf(run: () => unknown): Promise<ConfigError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('expected a ConfigError');
}

/** The table of a config.toml that sets how far a project is trusted. */
export function trustToml(path: string, level = 'trusted'): string {
  return `[projects.${JSON.stringify(path)}]\ntrust_level = "${level}"\n`;
}
