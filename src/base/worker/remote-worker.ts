import { SHARE_ENV, Worker } from 'node:worker_threads';
import { Peer, type PeerMessage, type PeerOptions } from './peer.ts';
import type { Remote } from './remote.ts';

export interface RemoteWorkerOptions<Ours>
  extends Pick<PeerOptions, 'knownErrors' | 'joins' | 'log'> {
  /** The absolute path of the built script. */
  script: string;
  /** Its argument, by which `bin/load-worker.js` finds the script in `dist/`. */
  name: string;
  /** For errors and the log: `the worker that …`. */
  called: string;
  /** A worker that needs more memory than this ends, and not the process. */
  heapMbMax: number;
  /** Makes the data that the script of each worker gets. */
  data?(): unknown;
  /** The methods that the worker calls. */
  served?: Ours;
  /**
   * A worker has ended, and not by `close`: by an error, by `process.exit`, out of memory, or
   * because a message of it cannot be read. Called before its calls reject.
   */
  onDied?(reason: Error): void;
}

/**
 * An object in a worker. The worker starts at the first use, and another one after its death. A
 * `Remote` belongs to one worker, and rejects its calls once that has ended. A worker keeps the
 * process alive only during calls. All workers of this server are started here.
 */
export class RemoteWorker<Api, Ours = object> {
  readonly #options: RemoteWorkerOptions<Ours>;
  #worker: Worker | null = null;
  #peer: Peer<Api, Ours> | null = null;
  /** Resolves when the worker that was closed last has ended. */
  #ending: Promise<unknown> = Promise.resolve();

  constructor(options: RemoteWorkerOptions<Ours>) {
    this.#options = options;
  }

  /** The object in the worker that runs, or in a new one. Throws if the system has no resources. */
  get remote(): Remote<Api> {
    return this.#peer ?? this.#start();
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** Ends the worker. Its calls reject. The next use starts another one. Can be called again. */
  async close(): Promise<void> {
    const [worker, peer] = [this.#worker, this.#peer];
    [this.#worker, this.#peer] = [null, null];
    peer?.end(`${this.#options.called} has ended`);
    if (worker !== null) this.#ending = worker.terminate();
    await this.#ending;
  }

  #start(): Peer<Api, Ours> {
    const { script, name, heapMbMax, data, served } = this.#options;
    const worker = new Worker(script, {
      argv: [name],
      workerData: data?.(),
      env: SHARE_ENV,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    });
    worker.unref();
    const peer = new Peer<Api, Ours>({
      ...this.#options,
      post: (messages) => worker.postMessage(messages),
      onWaiting: (isWaiting) => (isWaiting ? worker.ref() : worker.unref()),
    });
    peer.serve(served ?? ({} as Ours));
    let reason: Error | null = null;
    worker.on('message', (messages: PeerMessage[]) => peer.receive(messages));
    worker.on('messageerror', (error) => {
      reason ??= error;
      void worker.terminate();
    });
    worker.on('error', (error: unknown) => {
      reason ??= error instanceof Error ? error : new Error(String(error));
    });
    // An end without an error has only this event.
    worker.on('exit', (status) => {
      if (this.#worker !== worker) return;
      reason ??= new Error(`it ended with status ${status}`);
      [this.#worker, this.#peer] = [null, null];
      this.#options.onDied?.(reason);
      peer.end(`${this.#options.called} has died (${reason.message})`);
    });
    [this.#worker, this.#peer] = [worker, peer];
    return peer;
  }
}
