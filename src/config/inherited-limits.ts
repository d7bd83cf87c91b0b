/** How the network of a sandbox is managed, as plain data. */
export interface NetworkLimits {
  mode: 'full' | 'limited';
  /** By pattern. */
  domains: Readonly<Record<string, 'allow' | 'deny'>>;
  allowsPrivate: boolean;
  socks: boolean;
}

/**
 * The limits that an agent's sandbox policy does not have: those of its role and of the threads
 * that it works for.
 */
export interface InheritedLimits {
  /** Each of them limits all connections. Empty: none is known beside the configuration. */
  networks: readonly NetworkLimits[];
  /** Whether commands may use unix sockets, if the configuration allows it. */
  unixSockets: boolean;
}

/** Files that are hidden from a model and its commands, as plain data. */
export interface HiddenPattern {
  /** A pattern of paths, which begins with a slash or with `:workspace_roots/`. */
  path: string;
  /**
   * The most names below the first folder that the search for the files goes through. Null: all.
   */
  depthMax: number | null;
  /** The administrator of the machine hides them. Absent: a permission profile does. */
  isRequired?: true;
}
