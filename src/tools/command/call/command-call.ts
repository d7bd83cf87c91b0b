import type { GrantedPermissions } from '../../../policy/permissions/sandbox-bounds.ts';

/** A command that is to run, with how it is waited for. */
export interface CommandCall {
  /** The program and its arguments. */
  argv: readonly string[];
  /** What a shell of them is given to run; null where there is no shell. */
  script: string | null;
  /** Absolute. */
  cwd: string;
  tty: boolean;
  /** Whether it goes on in the background when its time is over; else it is killed then. */
  yields: boolean;
  waitMs: number;
  /** How much of its output the model reads. */
  tokensMax: number;
  /** Whether it asks to run outside the sandbox. */
  escalates: boolean;
  /** What it asks for beyond the sandbox for this run alone, while it stays in it; null: nothing. */
  permissions: GrantedPermissions | null;
  /** Why it asks for either. */
  justification: string | null;
  /** The beginning of commands that the model proposes to allow from now on. */
  prefixRule: readonly string[] | null;
}
