import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';

/** What a sandbox is to run: the folder and the program are there. */
export interface ConfinedCommand {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Whether it has a terminal of its own, which it must be able to control. */
  terminal: boolean;
}

/** How the confined process is started. */
export interface Confinement {
  /** What to run in place of the program. */
  argv: readonly string[];
  /** What to run it with: the command's own environment, but for what would change the program that confines it. */
  env: Readonly<Record<string, string>>;
  /** Files that it is to find open, from file descriptor 3 on. `release` closes them. */
  files: readonly number[];
  /** To be called when the process has ended, or was not started. Takes away what was put there to hold the bounds. */
  release(): Promise<void>;
}

/** The means of this system to keep a process within bounds. */
export interface Sandbox {
  /**
   * Rejects with a `SandboxUnavailableError`: nothing ever runs without the bounds that it was to have. And with a
   * `ProcessStartError` where the folder cannot be seen within the bounds.
   */
  confine(command: ConfinedCommand, bounds: SandboxBounds): Promise<Confinement>;
  /** Whether there is one, and which; null: there is none here, and `problem` says what is missing. */
  available(): Promise<{ name: string } | { problem: string }>;
}
