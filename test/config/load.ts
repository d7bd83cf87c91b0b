import type { Config } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { type ConfigSources, loadConfig } from '../../src/config/load-config.ts';
import { tempFolder } from './temp-folder.ts';

/** Loads a config.toml with this text, and the other given sources. */
export function load(text: string, sources: Partial<ConfigSources> = {}): Promise<Config> {
  const home = tempFolder({ 'config.toml': text });
  return loadConfig({ home, cwd: home, env: {}, overrides: [], ...sources });
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
