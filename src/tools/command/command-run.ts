import type { ParsedCommand } from '../../policy/command/parse-command.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { ToolContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import type { CommandDeps } from './command-deps.ts';

/** A command that may be run, and what it runs in. */
export interface CommandRun {
  call: CommandCall;
  command: ParsedCommand;
  context: ToolContext;
  deps: CommandDeps;
  /** What goes beyond its sandbox and is allowed to this run alone once it runs; null: nothing. */
  permissions: GrantedPermissions | null;
  /** What the session is known by. */
  number: number;
  /** Whom its process runs for. */
  owner: readonly string[];
}
