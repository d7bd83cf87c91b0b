/** A change of one key of a config.toml. */
export interface TomlEdit {
  path: readonly string[];
  /** Null removes the key. */
  value: unknown;
  /**
   * `upsert` merges a table into the one that is there; `replace` replaces it. Any other value is
   * replaced.
   */
  mergeStrategy: 'replace' | 'upsert';
}

/** The new text, or why the edits cannot be made. */
export type EditedToml = { text: string } | { problem: string };

/**
 * Makes the edits in the text of a config.toml, and keeps everything else in it. Rejects only if
 * the server has a fault.
 */
export type EditToml = (text: string, edits: readonly TomlEdit[]) => Promise<EditedToml>;
