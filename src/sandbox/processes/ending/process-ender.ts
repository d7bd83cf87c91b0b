import type { ProcessMark, ProcessMarks } from '../process-mark.ts';
import { createProcessTable, type ProcessTable } from '../process-table.ts';
import type { ProcessesDeps } from '../processes-deps.ts';
import { askToEnd } from './ask-to-end.ts';
import { type KillDeps, type KillTargets, killProcesses } from './kill-processes.ts';
import { pressKey, signalCommand } from './signal-command.ts';

/** A started process, for its end. */
export interface EndableStart {
  mark: ProcessMark;
  /** Its pid. Null before it is started and after it has ended. */
  leader: number | null;
  ended: boolean;
  /** Whether other processes of this start confine it. */
  isConfined: boolean;
  /** Whether the server starts it for itself. Then it is asked to end before it is killed. */
  isConfigured: boolean;
  /** Makes its output ignore pauses from now on. */
  hurry: () => void;
  /** Resolves when it has ended and its output has been read, or if it could not be started. */
  over: Promise<unknown>;
  /** Resolves when it is known whether it could be started. */
  begun: Promise<unknown>;
}

/** Sends signals to started processes, and kills them, together with all that they started. */
export class ProcessEnder {
  readonly #deps: ProcessesDeps;
  readonly #marks: ProcessMarks;
  #table: ProcessTable | null = null;

  constructor(deps: ProcessesDeps, marks: ProcessMarks) {
    this.#deps = deps;
    this.#marks = marks;
  }

  get table(): ProcessTable {
    this.#table ??= createProcessTable(this.#deps.platform, this.#marks);
    return this.#table;
  }

  /** Sends a signal, by its key in the terminal if it has one. Never rejects. */
  async signal(
    signal: 'SIGINT' | 'SIGTERM',
    start: EndableStart,
    key: (() => void) | null,
  ): Promise<void> {
    const targets = { ...targetsOf([start]), isConfined: start.isConfined };
    const sending = { targets, deps: this.#killDeps };
    const unlisted = (error: unknown) =>
      this.#deps.log.error({ err: error }, 'cannot list the processes to signal');
    try {
      const repeat = await (key === null || signal === 'SIGTERM'
        ? signalCommand(signal, sending)
        : pressKey(signal, key, sending));
      void repeat(() => start.ended).catch(unlisted);
    } catch (error) {
      unlisted(error);
    }
  }

  /**
   * Kills processes. Waits until one that is being started has begun. Resolves when all are over.
   * Never rejects.
   */
  async kill(starts: readonly EndableStart[]): Promise<void> {
    if (starts.length === 0) return;
    await Promise.all(starts.map(({ begun }) => begun));
    const deps = this.#killDeps;
    const programs = starts.filter(({ isConfigured }) => isConfigured);
    const commands = starts.filter(({ isConfigured }) => !isConfigured);
    const endPrograms = async () => {
      const left = await askToEnd(targetsOf(programs), deps);
      await killProcesses(targetsOf(programs), deps, left);
    };
    try {
      // At the same time: commands do not go on while programs end.
      const kills = commands.length > 0 ? [killProcesses(targetsOf(commands), deps)] : [];
      await Promise.all(programs.length > 0 ? [...kills, endPrograms()] : kills);
    } catch (error) {
      this.#deps.log.error({ err: error }, 'cannot list the processes to kill');
    }
    for (const { hurry } of starts) hurry();
    await Promise.all(starts.map(({ over }) => over));
  }

  get #killDeps(): KillDeps {
    const { sendSignal, log } = this.#deps;
    return { table: this.table, sendSignal, log };
  }
}

function targetsOf(starts: readonly EndableStart[]): KillTargets {
  return {
    leaders: new Set(starts.flatMap(({ leader }) => leader ?? [])),
    marks: new Set(starts.map(({ mark }) => mark.number)),
  };
}
