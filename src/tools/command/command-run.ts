import type { ParsedCommand } from '../../policy/command/parse-command.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import type { CommandDeps } from './command-deps.ts';

/** A command that is to be judged and run. */
export interface PreparedCommand {
  call: CommandCall;
  command: ParsedCommand;
  context: CallContext;
  deps: CommandDeps;
  /** The permissions beyond its sandbox that this run alone has once it is allowed; null: none. */
  permissions: GrantedPermissions | null;
}

/** A command that may run. */
export interface CommandRun extends PreparedCommand {
  /** The number of its session. */
  number: number;
  /** The thread, turn and session that its process runs for: everything it starts is found by them. */
  owner: readonly string[];
}
