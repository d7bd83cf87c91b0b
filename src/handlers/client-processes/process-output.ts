import type { OutputStream } from '../../sandbox/processes/processes.ts';

/** The cap for a stream that is kept and has none of its own: its output becomes one message, and building that blocks the server. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

interface StreamState {
  bytesLeft: number;
  capReached: boolean;
  kept: Buffer[];
}

export interface OutputDelta {
  stream: OutputStream;
  deltaBase64: string;
  capReached: boolean;
}

/** The two output streams of a process, each up to its cap. Output is announced as it comes, or kept until the process has ended. */
export class ProcessOutput {
  readonly #streams: Record<OutputStream, StreamState>;
  readonly #onOutput: ((delta: OutputDelta) => void) | null;

  /** If `bytesCap` is null, there is no cap. If `onOutput` is null, the output is kept. */
  constructor(bytesCap: number | null, onOutput: ((delta: OutputDelta) => void) | null) {
    const bytesMax = bytesCap ?? (onOutput === null ? KEPT_BYTES_MAX : Number.POSITIVE_INFINITY);
    const state = (): StreamState => ({ bytesLeft: bytesMax, capReached: false, kept: [] });
    this.#streams = { stdout: state(), stderr: state() };
    this.#onOutput = onOutput;
  }

  /** Takes output. Does not hold on to `bytes`. */
  take(stream: OutputStream, bytes: Buffer): void {
    const state = this.#streams[stream];
    if (state.capReached) return;
    const taken = bytes.subarray(0, Math.min(state.bytesLeft, bytes.length));
    state.bytesLeft -= taken.length;
    state.capReached = state.bytesLeft === 0;
    if (this.#onOutput === null) state.kept.push(Buffer.from(taken));
    else this.#onOutput({ stream, deltaBase64: taken.toString('base64'), capReached: state.capReached });
  }

  /** The kept output, decoded as UTF-8. Leaves out a character that the cap has cut. */
  text(stream: OutputStream): string {
    const { kept, capReached } = this.#streams[stream];
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(kept), { stream: capReached });
  }

  capReached(stream: OutputStream): boolean {
    return this.#streams[stream].capReached;
  }
}
