import type { Clock } from '../../base/clock.ts';
import type { Action, ActionOutcome } from '../action.ts';
import type { CallContext } from '../tool.ts';
import type { CommandCall } from './call/command-call.ts';
import type { CommandSettings } from './command-settings.ts';
import type { Machine } from './machine.ts';
import type { CommandSessions } from './sessions/command-sessions.ts';
import type { ShellExports } from './snapshot/shell-exports.ts';

/** The services that the commands of a thread use, and their configuration. */
export interface CommandServices {
  clock: Clock;
  /** The time of waits for commands, which can be paused. */
  waits: Pick<Clock, 'setTimer' | 'monotonic'>;
  machine: Pick<Machine, 'processes' | 'proxies' | 'home' | 'env'>;
  sessions: CommandSessions;
  /**
   * True: a call reaches only the running commands of its own turn. Absent: those of the whole
   * thread.
   */
  ownTurnOnly?: true;
  /** Without what `shell` and `environment` are made of. */
  settings: Omit<CommandSettings, 'enabled' | 'environment' | 'shellSnapshot'>;
  /** The variables that commands get from the user's shell: those of the machine, or none. */
  shell: ShellExports;
  /** The environment of commands, by what is known of the user's shell now. */
  environment(): Record<string, string>;
  /** The absolute paths of the folders of the skills that the model knows. */
  skillFolders(): readonly string[];
  /** If a command only applies a patch, prepares that patch. Returns null for any other command. */
  preparePatch(call: CommandCall, context: CallContext): Promise<Action | ActionOutcome | null>;
}
