import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Processes } from '../../sandbox/processes/processes.ts';
import type { Action, ActionOutcome } from '../action.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import type { CommandLimits } from './command-settings.ts';
import type { CommandSessions } from './sessions/command-sessions.ts';

/** What the commands of a thread run with. */
export interface CommandDeps {
  clock: Clock;
  processes: Processes;
  sessions: CommandSessions;
  /** Absolute: heddle's own folder. */
  home: string;
  /** The server's own environment. */
  env: Env;
  /** What commands find in theirs. */
  environment(): Record<string, string>;
  limits: CommandLimits;
  /** Prepares the patch that a command does nothing but apply; null for any other command. */
  preparePatch: ((call: CommandCall, context: CallContext) => Promise<Action | ActionOutcome | null>) | null;
}
