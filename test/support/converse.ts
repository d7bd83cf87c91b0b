import type { TerminalRun } from '../process/exec/terminal-run.ts';

/** The exit code when the process has ended by itself. */
type End = { code: number | null; signal: NodeJS.Signals | null };

/**
 * A text to wait for, and the keys that are typed then. Without keys, only the text is waited for.
 */
export type Exchange = readonly [shown: string, typed?: string];

/** Waits for each text in turn, and types after it. */
export async function converse(run: TerminalRun, ...exchanges: readonly Exchange[]): Promise<void> {
  for (const [shown, typed] of exchanges) {
    await run.until(shown);
    if (typed !== undefined) run.type(typed);
  }
}

/** The same, to the end of the process. */
export async function converseToEnd(
  run: TerminalRun,
  ...exchanges: readonly Exchange[]
): Promise<End> {
  await converse(run, ...exchanges);
  return run.exit;
}
