import type { ParsedCommand } from '../../policy/parse/parse-command.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import { shellArgv } from './call/user-shell.ts';
import type { CommandServices } from './command-services.ts';
import type { CommandPin } from './outside/command-pin.ts';

/**
 * What is started for a call. It is settled when the call is judged, because it decides what the
 * names of programs mean.
 */
export interface CommandStart {
  /**
   * As the call has it, but without the option that makes a shell read the profile, if what that
   * exports is known.
   */
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** A command with everything that judging and running it need. */
export interface PreparedCommand {
  call: CommandCall;
  command: ParsedCommand;
  context: CallContext;
  services: CommandServices;
  start: CommandStart;
  /** The root of the project that the command runs in, as a real path. */
  project: string;
  /**
   * The permissions beyond its sandbox that apply to this run only, once it is allowed. Null: none.
   */
  permissions: GrantedPermissions | null;
  /**
   * The pin of a command that may go beyond the sandbox. The owner closes it. Null: it cannot do
   * so, or needs no approval.
   */
  pin: CommandPin | null;
}

/** A command that has a session number. */
export interface CommandRun extends PreparedCommand {
  /** The number of its session. */
  number: number;
  /**
   * The ids of the thread, turn and session that own its process. All processes that it starts are
   * found by them.
   */
  owner: readonly string[];
}

/** Returns what is started for a call, by what is known of the user's shell now. */
export function commandStart(
  { argv, script }: CommandCall,
  { shell, environment }: CommandServices,
): CommandStart {
  const [program = '', option] = argv;
  const isPlain = script !== null && option === '-lc' && shell.replacesProfile(program);
  return {
    argv: isPlain ? shellArgv(program, script, { login: false }) : argv,
    env: environment(),
  };
}
