import type { Config } from '../../config/config.ts';
import type { SkillFolders } from '../../instructions/skills/skill-folders.ts';
import type { ConfigWriter } from './config-writer.ts';

/** The user's configuration, for methods that read and change it. */
export interface Configured {
  /**
   * The configuration for a folder, by default the server's working directory. Reads the files at
   * each call.
   */
  config: (cwd?: string | null) => Promise<Config>;
  /** Changes config.toml. */
  configWriter: ConfigWriter;
  skillFolders: SkillFolders;
  /**
   * The features that were switched while the server runs. Every configuration that is read has
   * them.
   */
  switched: Record<string, boolean>;
}
