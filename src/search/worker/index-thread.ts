import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../base/worker/start-worker.ts';
import type { FuzzyFileSearchResult } from '../../protocol/generated/types.ts';
import type { IndexCall, IndexReply } from './index-call.ts';
import type { PathIndex } from './path-index.ts';

/** An index that needs more memory than this ends, and not the process. */
const HEAP_MB_MAX = 512;

/** Paths come in pieces of some bytes. They are sent in larger ones, and before each query. */
const SENT_BYTES = 64 * 1024;

interface Waiting {
  resolve: (matches: FuzzyFileSearchResult[] | null) => void;
  reject: (error: Error) => void;
}

/** The thread that ranks paths. It starts with the first index, and lasts until `close`. */
export class IndexThread {
  readonly #script: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #open = new Set<number>();
  #worker: Worker | null = null;
  #indexes = 0;
  #calls = 0;

  /** `script`: the built script of the thread. */
  constructor(script: string) {
    this.#script = script;
  }

  /**
   * Makes an index of paths below these folders. If the thread dies, the index is lost, and its
   * calls reject.
   */
  open(roots: readonly string[]): PathIndex {
    const worker = this.#worker ?? this.#start();
    const index = ++this.#indexes;
    this.#open.add(index);
    const send = (call: IndexCall) => {
      if (this.#open.has(index)) worker.postMessage(call);
    };
    send({ type: 'open', index, roots });
    const unsent = roots.map(() => new Unsent());
    const sendPaths = (root: number, paths: Unsent) =>
      send({ type: 'add', index, root, bytes: paths.take() });
    return {
      add: (root, bytes) => {
        const paths = unsent[root];
        if (paths !== undefined && paths.add(bytes) >= SENT_BYTES) sendPaths(root, paths);
      },
      rank: (query) =>
        new Promise((resolve, reject) => {
          if (!this.#open.has(index)) return reject(new Error(LOST));
          const id = ++this.#calls;
          for (const [root, paths] of unsent.entries()) if (paths.bytes > 0) sendPaths(root, paths);
          this.#waiting.set(id, { resolve, reject });
          send({ type: 'rank', index, id, query });
        }),
      close: () => {
        send({ type: 'close', index });
        this.#open.delete(index);
      },
    };
  }

  /** Ends the thread. Calls that wait reject. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#forget(LOST);
    await worker?.terminate();
  }

  #start(): Worker {
    const worker: Worker = startWorker<IndexReply>({
      script: this.#script,
      heapMbMax: HEAP_MB_MAX,
      onMessage: ({ id, matches }) => {
        this.#waiting.get(id)?.resolve(matches);
        this.#waiting.delete(id);
      },
      onEnd: ({ message }) => {
        if (this.#worker === worker)
          this.#forget(`the thread that ranks paths has died: ${message}`);
      },
    });
    this.#worker = worker;
    return worker;
  }

  #forget(reason: string): void {
    this.#worker = null;
    this.#open.clear();
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}

const LOST = 'the thread that ranks paths has ended';

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
