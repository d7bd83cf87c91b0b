import { RemoteWorker } from '../../base/worker/remote-worker.ts';
import type { PathIndex } from './path-index.ts';
import type { ServedIndexes } from './search.worker.ts';

/** An index that needs more memory than this ends, and not the process. */
const HEAP_MB_MAX = 512;

/** Paths come in pieces of some bytes. They are sent in larger ones, and before each query. */
const SENT_BYTES = 64 * 1024;

/** The worker that ranks paths. It starts with the first index, and lasts until `close`. */
export class IndexWorker {
  readonly #worker: RemoteWorker<ServedIndexes>;
  #indexes = 0;

  /** `script`: the script that loads workers. */
  constructor(script: string) {
    this.#worker = new RemoteWorker({
      script,
      name: 'search.worker',
      called: 'the worker that ranks paths',
      heapMbMax: HEAP_MB_MAX,
    });
  }

  /**
   * Makes an index of paths below these folders. If the worker dies, the index is lost, and its
   * calls reject.
   */
  open(roots: readonly string[]): PathIndex {
    const { remote } = this.#worker;
    const index = ++this.#indexes;
    remote.tell('open', index, roots);
    const unsent = roots.map(() => new Unsent());
    const sendPaths = (root: number, paths: Unsent) =>
      remote.tell('add', index, root, paths.take());
    return {
      add: (root, bytes) => {
        const paths = unsent[root];
        if (paths !== undefined && paths.add(bytes) >= SENT_BYTES) sendPaths(root, paths);
      },
      rank: (query) => {
        for (const [root, paths] of unsent.entries()) if (paths.bytes > 0) sendPaths(root, paths);
        return remote.call('rank', [index, query]);
      },
      close: () => remote.tell('close', index),
    };
  }

  /** Ends the worker. Calls that wait reject. */
  close(): Promise<void> {
    return this.#worker.close();
  }
}

/** Collects paths. */
class Unsent {
  bytes = 0;
  #pieces: Uint8Array[] = [];

  /** Returns how many bytes there are. */
  add(piece: Uint8Array): number {
    this.#pieces.push(Uint8Array.from(piece));
    this.bytes += piece.length;
    return this.bytes;
  }

  take(): Uint8Array {
    const all = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.bytes = 0;
    return all;
  }
}
