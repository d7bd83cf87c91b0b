import type { AskForApproval, SandboxPolicy } from '../protocol/generated/types.ts';
import type { CommandRules } from './command-rules.ts';
import type { Grants } from './grants.ts';
import type { ParsedCommand } from './parse-command.ts';

/** A command that the model wants to run, with what it asks for. */
export interface CommandRequest {
  command: ParsedCommand;
  /** Whether it asks to run outside the sandbox. */
  escalates: boolean;
  /** The reason that it gives for that. */
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
}

/** What is to become of a command. */
export type CommandVerdict =
  | { verdict: 'run'; sandboxed: boolean }
  | {
      verdict: 'ask';
      /** For the person who decides; null: nothing beyond the command itself. */
      reason: string | null;
      /** How it runs once it is accepted. */
      sandboxed: boolean;
      /** What can be allowed from now on; null: nothing is proposed. */
      proposedAmendment: readonly string[] | null;
    }
  | { verdict: 'refuse' /** For the model. */; reason: string };
