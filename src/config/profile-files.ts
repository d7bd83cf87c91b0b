import type { Config } from './config.ts';
import { isTable } from './toml/config-table.ts';

/**
 * Returns the name of the file in the home in which other agents keep a profile. Null: the
 * profile's name cannot be a part of one.
 */
export function profileFile(profile: string): string | null {
  return /^[\w-]+$/.test(profile) ? `${profile}.config.toml` : null;
}

/**
 * Returns the names of the files of all profiles that the configuration names, whether they exist
 * or not.
 */
export function profileFiles({ layers, values }: Config): string[] {
  const active = layers.flatMap(({ name }) =>
    name.type === 'user' && name.profile !== null ? [name.profile] : [],
  );
  const defined = isTable(values.profiles) ? Object.keys(values.profiles) : [];
  return [...new Set([...active, ...defined])].map(profileFile).filter((file) => file !== null);
}
