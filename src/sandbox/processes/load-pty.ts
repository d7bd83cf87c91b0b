import { ProcessStartError } from './processes.ts';

/**
 * The part of node-pty that opens and resizes terminals. The part that starts programs is not used:
 * it loses the end of their output, cannot pass open files, and reports their end only after every
 * process has closed the terminal.
 */
export interface Pty {
  open(cols: number, rows: number): { master: number; slave: number; pty: string };
  resize(master: number, cols: number, rows: number): void;
}

/** Loads node-pty. Rejects with a `ProcessStartError` if it does not work on this system. */
export async function loadPty(): Promise<Pty> {
  try {
    const { requireBinary } = await import('@lydell/node-pty/requireBinary.js');
    return requireBinary('pty.node');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProcessStartError(`terminals are not available on this system: ${reason}`, {
      cause: error,
    });
  }
}
