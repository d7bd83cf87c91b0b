/** Files that a permission profile hides, as plain data. */
export interface HiddenPattern {
  /** A pattern of paths, which begins with a slash or with `:workspace_roots/`. */
  path: string;
  /** The most names below the first folder that the search for the files goes through. Null: all. */
  depthMax: number | null;
}
