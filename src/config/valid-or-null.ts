import { ConfigError } from './toml/config-error.ts';

/**
 * Resolves with what `read` reads from the configuration, or with null if `read` throws a
 * ConfigError.
 */
export async function validOrNull<T>(read: () => T | Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}
