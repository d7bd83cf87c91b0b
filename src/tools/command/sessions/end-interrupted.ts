import { type Clock, sleep } from '../../../base/clock.ts';
import type { RunningProcess } from '../../../sandbox/processes/processes.ts';
import type { ShownCommand } from './shown-command.ts';

/** Ctrl-C: a terminal interrupts its program when it reads this character. */
export const INTERRUPT = '\u0003';
/** How long an interrupted command may take to end, until it gets SIGTERM. */
const INTERRUPT_MS_MAX = 5_000;
/** How long it may take after that, until it is killed. */
const TERMINATE_MS_MAX = 10_000;
/** A terminal shows Ctrl-C as `^C`. */
const ECHO_BYTES = 2;

interface InterruptedCommand {
  /** Whether it is in a terminal. */
  hasInput: boolean;
  shown: ShownCommand;
  program: RunningProcess;
  kill(): Promise<void>;
}

/**
 * Ends a command that has been sent Ctrl-C and does not end: by SIGTERM, and then by a kill. One in
 * a terminal may answer Ctrl-C and continue, such as a shell or an interpreter: if it prints
 * anything after Ctrl-C, it is left alone. `over` ends the wait.
 */
export async function endInterrupted(
  command: InterruptedCommand,
  clock: Clock,
  over: AbortSignal,
): Promise<void> {
  const { hasInput, shown, program } = command;
  const bytesBefore = shown.outputBytes;
  await sleep(clock, INTERRUPT_MS_MAX, over);
  if (over.aborted || (hasInput && shown.outputBytes > bytesBefore + ECHO_BYTES)) return;
  await program.terminate();
  await sleep(clock, TERMINATE_MS_MAX, over);
  if (!over.aborted) await command.kill();
}
