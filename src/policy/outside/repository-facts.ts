/** One setting of git, with its section and key in lower case. */
export interface GitSetting {
  section: string;
  subsection: string | null;
  key: string;
  value: string | null;
}

/**
 * The repository that git finds from a folder, as read from its files. All paths are absolute and
 * without links.
 */
export interface RepositoryFacts {
  /** The folder that contains its `.git`. */
  root: string;
  /** Its git folder, and the one that all its working trees share. */
  own: string;
  shared: string;
  /** Whether git accepts it as a repository: it has HEAD, objects and refs. */
  isComplete: boolean;
  /** Its settings. Null: they cannot be read completely. */
  settings: readonly GitSetting[] | null;
  /** The folders that git may look for hooks in. */
  hookFolders: readonly string[];
  /** The names of its hooks that can run. */
  hooks: readonly string[];
  /** Null: it is not certain. */
  hasSubmodules: boolean | null;
}
