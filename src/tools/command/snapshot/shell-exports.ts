/** The variables that commands get from the user's shell, beyond the server's environment. */
export interface ShellExports {
  /** Begins to find it out soon. Does not wait. */
  begin(): void;
  /**
   * Resolves when it is known, or after a short time. Later calls wait no longer than the first
   * one.
   */
  ready(signal: AbortSignal): Promise<void>;
  /**
   * The variables, before the environment policy applies. It is the same object until they change.
   */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * Whether a command with this shell need not read the profile, although it asks for a login
   * shell.
   */
  replacesProfile(shell: string): boolean;
  /** For threads whose configuration has no snapshot. */
  readonly switchedOff: ShellExports;
}

const NONE: Readonly<Record<string, string>> = {};

/** Login shells read the profile themselves. */
export const PROFILE_EACH_TIME: ShellExports = fixed(false);

/** No shell reads the profile: what a profile prints or sets may be other each time. */
export const NO_PROFILE: ShellExports = fixed(true);

function fixed(replaces: boolean): ShellExports {
  const exports: ShellExports = {
    begin() {},
    ready: async () => {},
    variables: NONE,
    replacesProfile: () => replaces,
    get switchedOff() {
      return exports;
    },
  };
  return exports;
}
