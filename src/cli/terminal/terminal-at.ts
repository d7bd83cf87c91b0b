import type { Env } from '../../base/env.ts';
import { Dialogs, NobodyThere } from '../exec/asking/dialogs.ts';
import type { KeyboardStream } from '../exec/asking/keyboard.ts';
import { type Output, Screen } from '../exec/screen.ts';
import { columnsOf } from './columns-of.ts';

/** A place to print to, and a person there, if the input is a terminal. */
export interface Terminal {
  print(text: string): void;
  /** Prints beside the result. */
  note(text: string): void;
  /** The width of the terminal. Null: the output is no terminal, so nothing is cut. */
  columns: number | null;
  /** Asks a person. Resolves with true for `y` or `yes`. Null if no person can answer. */
  confirm: ((question: string) => Promise<boolean>) | null;
}

interface TerminalStreams {
  stdin: KeyboardStream;
  stdout: Output;
  stderr: Output;
  env: Env;
  /** Called for Ctrl-C while the terminal passes it on as a character. */
  onInterrupt(): void;
}

/** The terminal that these streams are. */
export function terminalAt({ stdin, stdout, stderr, env, onInterrupt }: TerminalStreams): Terminal {
  const screen = new Screen({ stdout, stderr, env, json: false });
  const dialogs = new Dialogs(screen, stdin, onInterrupt);
  const confirm = (question: string) =>
    dialogs
      .ask(new AbortController().signal, async (dialog) =>
        /^y(es)?$/i.test((await dialog.line(question)).trim()),
      )
      .catch((error: unknown) => {
        // The end of the input is no consent.
        if (error instanceof NobodyThere) return false;
        throw error;
      });
  return {
    print: (text) => void stdout.write(text),
    note: (text) => void stderr.write(text),
    columns: stdout.isTTY === true ? columnsOf(stdout) : null,
    confirm: stdin.isTTY === true && screen.questions !== null ? confirm : null,
  };
}
