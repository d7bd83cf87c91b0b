import type { JsonObject } from '../base/json-value.ts';
import type { Config } from './config.ts';

/** The user's settings, as they are now. */
export interface Configuration {
  /**
   * Reads the configuration for a working directory, with the settings of a request; null: it has
   * none.
   */
  load(cwd: string, request: JsonObject | null): Promise<Config>;
  /** Further folders with skills, which a client has named. Absolute paths. */
  extraSkillRoots(): readonly string[];
}
