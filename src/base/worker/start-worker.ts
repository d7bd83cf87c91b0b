import { SHARE_ENV, Worker } from 'node:worker_threads';

export interface WorkerOptions<Message> {
  /** The absolute path of the built script. */
  script: string;
  /** A worker that needs more memory than this ends, and not the process. */
  heapMbMax: number;
  /** The `workerData` of the script. */
  data?: unknown;
  onMessage(message: Message): void;
  /**
   * Called once, after the last message, however the worker ends: by an error, by `process.exit`,
   * out of memory, by `terminate`, or because a message of it cannot be read. What waits for the
   * worker must end here, because it gets no answer.
   */
  onEnd(reason: Error): void;
}

/**
 * Starts a worker, for everything that runs in workers of this server. It does not keep the process
 * alive until `ref` is called. Throws if the system has no resources for it.
 */
export function startWorker<Message>({
  script,
  heapMbMax,
  data,
  onMessage,
  onEnd,
}: WorkerOptions<Message>): Worker {
  const worker = new Worker(script, {
    workerData: data,
    env: SHARE_ENV,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
  });
  let reason: Error | null = null;
  worker.on('message', onMessage);
  worker.on('messageerror', (error) => {
    reason ??= error;
    void worker.terminate();
  });
  worker.on('error', (error: unknown) => {
    reason ??= error instanceof Error ? error : new Error(String(error));
  });
  // An end without an error has only this event.
  worker.on('exit', (status) => onEnd(reason ?? new Error(`it ended with status ${status}`)));
  worker.unref();
  return worker;
}
