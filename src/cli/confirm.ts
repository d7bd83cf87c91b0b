import type { Readable, Writable } from 'node:stream';

/** Asks a person a question on these streams. Resolves with true for `y` or `yes`. Does not settle if the input ends. */
export async function confirm(question: string, streams: { input: Readable; output: Writable }): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface(streams);
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
