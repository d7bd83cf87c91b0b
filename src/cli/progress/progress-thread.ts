import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../base/worker/start-worker.ts';
import { CLEAR_LINE, type ProgressPlace } from './progress-line.ts';

const HEAP_MB_MAX = 32;

/**
 * Shows the progress of work that holds the main thread, such as that of SQLite, from another
 * thread.
 */
export class ProgressThread {
  /** Written before other lines, so that they do not stand behind the progress. */
  readonly lineStart: string;
  readonly #worker: Worker;
  readonly #over: Promise<void>;

  /**
   * `script`: the absolute path of the thread's script. Throws if the system has no resources for a
   * thread.
   */
  constructor(script: string, place: ProgressPlace) {
    this.lineStart = place.isTerminal ? CLEAR_LINE : '';
    let end = () => {};
    this.#over = new Promise((resolve) => {
      end = resolve;
    });
    this.#worker = startWorker({
      script,
      heapMbMax: HEAP_MB_MAX,
      data: place,
      onMessage: () => {},
      onEnd: () => end(),
    });
  }

  /** Says what is done now. */
  step(text: string): void {
    this.#worker.postMessage(text);
  }

  /** Resolves when the line is gone. */
  async end(): Promise<void> {
    this.#worker.ref();
    this.#worker.postMessage(null);
    await this.#over;
  }
}
