import type { Remote } from '../../base/worker/remote.ts';
import { RemoteWorker } from '../../base/worker/remote-worker.ts';
import { CLEAR_LINE, type ProgressLine, type ProgressPlace } from './progress-line.ts';

const HEAP_MB_MAX = 32;

/**
 * Shows the progress of work that holds the main thread, such as that of SQLite, from a worker.
 */
export class RemoteProgress {
  /** Written before other lines, so that they do not stand behind the progress. */
  readonly lineStart: string;
  readonly #worker: RemoteWorker<ProgressLine>;
  readonly #line: Remote<ProgressLine>;

  /**
   * `script`: the script that loads workers. Throws if the system has no resources for a worker.
   */
  constructor(script: string, place: ProgressPlace) {
    this.lineStart = place.isTerminal ? CLEAR_LINE : '';
    this.#worker = new RemoteWorker({
      script,
      name: 'progress.worker',
      called: 'the worker that shows progress',
      heapMbMax: HEAP_MB_MAX,
      data: () => place,
    });
    this.#line = this.#worker.remote;
  }

  /** Says what is done now. */
  step(text: string): void {
    this.#line.tell('step', text);
  }

  /** Resolves when the line is gone. */
  async end(): Promise<void> {
    // It may have died: then there is no line.
    await this.#line.call('end', []).catch(() => {});
    await this.#worker.close();
  }
}
