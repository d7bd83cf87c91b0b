import type { AskForApproval, SandboxPolicy } from '../../protocol/generated/types.ts';
import type { LeavingFacts } from '../outside/leaving-doubt.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';
import type { Permit } from '../permissions/permit.ts';
import type { GrantedPermissions } from '../permissions/sandbox-bounds.ts';
import type { SessionGrants } from '../permissions/session-grants.ts';
import type { CommandRules } from '../rules/command-rules.ts';

/** A command that the model wants to run, with the permissions that it asks for. */
export interface CommandRequest {
  command: ParsedCommand;
  /** The absolute path of the working directory. */
  cwd: string;
  /**
   * The state of the places that it depends on beyond the sandbox, by path. Null: not known, so no
   * grant allows it there.
   */
  identity: ReadonlyMap<string, string> | null;
  /** Whether it asks to run outside the sandbox. */
  escalates: boolean;
  /** Further permissions in the sandbox that it asks for, for this run only. Null: none. */
  permissions: GrantedPermissions | null;
  /** The model's reason for either request. */
  justification: string | null;
  /** The command prefix that the model proposes to allow from now on. */
  prefixRule: readonly string[] | null;
}

export interface CommandSituation {
  request: CommandRequest;
  sandboxPolicy: SandboxPolicy;
  approvalPolicy: AskForApproval;
  /** Whether no command may leave the sandbox, whoever would allow it. */
  staysInside: boolean;
  rules: CommandRules;
  grants: SessionGrants;
  /**
   * The files of a command that a rule may allow to go beyond the sandbox. Null: they were not
   * examined, so no rule allows it to go beyond the sandbox.
   */
  leaving: LeavingFacts | null;
  /**
   * Returns whether the names of programs mean what the user has installed (`trustsNames`). Called
   * only if that decides something.
   */
  trustsNames(): boolean;
  /**
   * Whether this command names its program by a path that commands cannot write
   * (`hasFixedProgram`).
   */
  hasFixedProgram: boolean;
  /**
   * The file of a skill that the command may run, in words that follow "The command may run". Null:
   * nothing. Looked for only if the approval policy asks about that.
   */
  skillFile: string | null;
  /** The root of the project that the command runs in, for rules that hold in one project. */
  project: string;
}

/**
 * The decision about a command. `sandboxed` means that it runs within the bounds of the sandbox
 * policy, if it has any, plus the permissions that the request asks for.
 */
export type CommandVerdict =
  | ({ verdict: 'run' } & Permit)
  | {
      verdict: 'ask';
      /** The reason for the person who decides. Null: the command needs no further reason. */
      reason: string | null;
      /** Whether it runs in the sandbox after it is accepted. */
      sandboxed: boolean;
      /**
       * The key for `SessionGrants.allowCommand` if it is accepted for the session. Null: it cannot
       * be recognized again.
       */
      key: string | null;
      /**
       * The words that can be allowed in this project from now on: the whole command, or a prefix.
       * Null: none are proposed.
       */
      proposedAmendment: readonly string[] | null;
    }
  | { verdict: 'refuse' /** For the model. */; reason: string };
