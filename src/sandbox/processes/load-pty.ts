import { ProcessStartError } from './processes.ts';

/**
 * The part of node-pty that opens terminals and sizes them. Its part that starts programs is not used: it loses the end of
 * their output, cannot pass open files on, and says that they have ended only when nobody has the terminal open any more.
 */
export interface Pty {
  open(cols: number, rows: number): { master: number; slave: number; pty: string };
  resize(master: number, cols: number, rows: number): void;
}

/** Rejects with a `ProcessStartError` where there is none for this system. */
export async function loadPty(): Promise<Pty> {
  try {
    const { requireBinary } = await import('@lydell/node-pty/requireBinary.js');
    return requireBinary('pty.node');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProcessStartError(`there are no terminals on this system: ${reason}`, { cause: error });
  }
}
