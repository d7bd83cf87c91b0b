import type { GrantedPermissions } from '../../../policy/permissions/sandbox-bounds.ts';

/** A call that runs a command, with its arguments validated. */
export interface CommandCall {
  /** The program and its arguments. */
  argv: readonly string[];
  /** The script, if `argv` runs a shell with one. Null: `argv` runs no shell. */
  script: string | null;
  /** Absolute. */
  cwd: string;
  /** Whether the command runs in a terminal, which can be written to. */
  tty: boolean;
  /** Whether the command continues in the background after `waitMs`. If false, it is killed. */
  yields: boolean;
  waitMs: number;
  /** The most tokens of output that the model reads. */
  tokensMax: number;
  /** Whether the call asks to run outside the sandbox. */
  escalates: boolean;
  /**
   * The permissions that the call asks for in addition, inside the sandbox and for this run only.
   * Null: none.
   */
  permissions: GrantedPermissions | null;
  /** The model's reason for either request. */
  justification: string | null;
  /** The command prefix that the model proposes to allow from now on. */
  prefixRule: readonly string[] | null;
}
