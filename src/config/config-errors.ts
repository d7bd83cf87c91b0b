import { isAbsolute } from 'node:path';
import type { Config } from './config.ts';
import { chooseProvider } from './providers/choose-provider.ts';
import { definedProviders, readProvider } from './providers/read-provider.ts';
import { choice } from './settings/setting.ts';
import { SETTING_NAMES, type SettingName } from './settings/settings.ts';
import { type ConfigError, readOr } from './toml/config-error.ts';

/** Reads of parts of the configuration. Each throws a ConfigError if its part is invalid. */
export type ConfigReads = (config: Config) => readonly (() => unknown)[];

/** The parts that can be invalid, by their names. */
export type ReadName = SettingName | 'projects';

/**
 * Returns the errors of all settings, of the providers, and of what `further` reads, each once,
 * with the names of what cannot be read for it. Without a name, it is another part. Providers are
 * not read for a server that was given a model, since they are not used then.
 */
export function configErrors(
  config: Config,
  further: ConfigReads,
): { error: ConfigError; names: readonly ReadName[] }[] {
  const others = [
    ...(config.modelGiven ? [] : providerReads(config)),
    ...readsOrFailure(config, further),
  ];
  const reads = [
    ...SETTING_NAMES.map((name) => ({
      names: [name] as ReadName[],
      read: (): unknown => config.get(name),
    })),
    ...projectReads(config).map((read) => ({ names: ['projects'] as ReadName[], read })),
    ...others.map((read) => ({ names: [] as ReadName[], read })),
  ];
  // One invalid table makes every setting in it fail with the same message.
  const errors = new Map<string, { error: ConfigError; names: ReadName[] }>();
  for (const { names, read } of reads) {
    const error = errorThrownBy(read);
    if (error === null) continue;
    const known = errors.get(error.message);
    if (known === undefined) errors.set(error.message, { error, names });
    else known.names.push(...names);
  }
  return [...errors.values()];
}

/** Returns the ConfigError that `read` throws, or null. */
export function errorThrownBy(read: () => unknown): ConfigError | null {
  return readOr(
    () => {
      read();
      return null;
    },
    (error) => error,
  );
}

function providerReads(config: Config): (() => unknown)[] {
  const definitions = errorThrownBy(() => definedProviders(config)) ? [] : definedProviders(config);
  return [
    () => definedProviders(config),
    () => chooseProvider(config, null),
    ...definitions.map((id) => () => readProvider(config, id)),
  ];
}

/** Reads the entries of `[projects]`: an invalid one trusts nothing. */
function projectReads(config: Config): (() => unknown)[] {
  if (errorThrownBy(() => config.keys(['projects'])) !== null)
    return [() => config.keys(['projects'])];
  return config.keys(['projects']).map((folder) => () => {
    if (!isAbsolute(folder))
      throw config.error(['projects', folder], 'expected the absolute path of a folder');
    return config.read(['projects', folder, 'trust_level'], TRUST_LEVEL);
  });
}

const TRUST_LEVEL = choice(['trusted', 'untrusted'], 'untrusted');

/** The reads; if a table that they are listed from is invalid, a read that fails for that. */
function readsOrFailure(config: Config, further: ConfigReads): readonly (() => unknown)[] {
  let reads: readonly (() => unknown)[] = [];
  const error = errorThrownBy(() => {
    reads = further(config);
  });
  if (error === null) return reads;
  return [
    () => {
      throw error;
    },
  ];
}
