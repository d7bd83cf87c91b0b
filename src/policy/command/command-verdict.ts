import type { AskForApproval, SandboxPolicy } from '../../protocol/generated/types.ts';
import type { Grants } from '../permissions/grants.ts';
import type { Permit } from '../permissions/permit.ts';
import type { GrantedPermissions } from '../permissions/sandbox-bounds.ts';
import type { CommandRules } from '../rules/command-rules.ts';
import type { ParsedCommand } from './parse-command.ts';

/** A command that the model wants to run, with what it asks for. */
export interface CommandRequest {
  command: ParsedCommand;
  /** Where it is to run. Absolute. */
  cwd: string;
  /** Whether it asks to run outside the sandbox. */
  escalates: boolean;
  /** What it asks for beyond the sandbox's bounds while it stays in it, for this run alone; null: nothing. */
  permissions: GrantedPermissions | null;
  /** The reason that it gives for either. */
  justification: string | null;
  /** The beginning of commands that it proposes to allow from now on. */
  prefixRule: readonly string[] | null;
}

export interface CommandSituation {
  request: CommandRequest;
  sandboxPolicy: SandboxPolicy;
  approvalPolicy: AskForApproval;
  rules: CommandRules;
  grants: Grants;
  /** Whether the names of programs mean what the user has installed (`trustsNames`). */
  trustsNames: boolean;
}

/**
 * What is to become of a command. `sandboxed`: within what the sandbox policy allows, where that has any bounds, and what
 * the request asks for beyond them.
 */
export type CommandVerdict =
  | ({ verdict: 'run' } & Permit)
  | {
      verdict: 'ask';
      /** For the person who decides; null: nothing beyond the command itself. */
      reason: string | null;
      /** How it runs once it is accepted. */
      sandboxed: boolean;
      /** What to give `Grants.allowCommand` when it is accepted for the session. */
      key: string;
      /** What can be allowed from now on; null: nothing is proposed. */
      proposedAmendment: readonly string[] | null;
    }
  | { verdict: 'refuse' /** For the model. */; reason: string };
