import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { decodeAnyBytes } from '../../base/text/decode-utf8.ts';
import type { OutputStream } from '../../sandbox/processes/processes.ts';

/**
 * The cap for a stream that is kept and has none of its own: its output becomes one message, and
 * building that blocks the server.
 */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

interface StreamState {
  bytesLeft: number;
  capReached: boolean;
  kept: Buffer[];
  text: string;
}

export interface OutputDelta {
  stream: OutputStream;
  deltaBase64: string;
  capReached: boolean;
}

/**
 * The two output streams of a process, each up to its cap. Output is announced as it comes, or kept
 * until the process has ended.
 */
export class ProcessOutput {
  readonly #streams: Record<OutputStream, StreamState>;
  readonly #onOutput: ((delta: OutputDelta) => void) | null;

  /** If `bytesCap` is null, there is no cap. If `onOutput` is null, the output is kept. */
  constructor(bytesCap: number | null, onOutput: ((delta: OutputDelta) => void) | null) {
    const bytesMax = bytesCap ?? (onOutput === null ? KEPT_BYTES_MAX : Number.POSITIVE_INFINITY);
    const state = (): StreamState => ({
      bytesLeft: bytesMax,
      capReached: false,
      kept: [],
      text: '',
    });
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
    else
      this.#onOutput({
        stream,
        deltaBase64: taken.toString('base64'),
        capReached: state.capReached,
      });
  }

  /** Decodes the kept output as UTF-8, for `text`. Leaves out a character that the cap has cut. */
  async finish(): Promise<void> {
    const breaks = new EventLoopYield();
    for (const state of Object.values(this.#streams)) {
      state.text = await decodeAnyBytes(state.kept, { isCut: state.capReached }, breaks);
      state.kept = [];
    }
  }

  /** The kept output, once it is decoded. */
  text(stream: OutputStream): string {
    return this.#streams[stream].text;
  }

  capReached(stream: OutputStream): boolean {
    return this.#streams[stream].capReached;
  }
}
