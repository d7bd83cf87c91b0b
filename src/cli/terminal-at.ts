import type { Readable, Writable } from 'node:stream';

/** A place to print to, and a person there, if the input is a terminal. */
export interface Terminal {
  print(text: string): void;
  /** Prints beside the result. */
  note(text: string): void;
  /** Asks a person. Null if no person can answer. */
  confirm: ((question: string) => Promise<boolean>) | null;
}

interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
}

/** The terminal that these streams are. */
export function terminalAt({ stdin: input, stdout: output, stderr }: Streams): Terminal {
  return {
    print: (text) => void output.write(text),
    note: (text) => void stderr.write(text),
    confirm: input.isTTY === true ? (question) => confirm(question, { input, output }) : null,
  };
}

/** Resolves with true for `y` or `yes`. Does not settle if the input ends. */
async function confirm(
  question: string,
  streams: { input: Readable; output: Writable },
): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface(streams);
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim());
  } finally {
    terminal.close();
  }
}
