import type { Clock, Timer } from '../base/clock.ts';
import { isDraftName } from '../base/files/draft-file.ts';
import type { Log } from '../base/log.ts';
import { tooManyWatches, watchIdTaken } from '../protocol/errors/file-errors.ts';
import type { FsChangedNotification } from '../protocol/generated/types.ts';
import { PathWatch } from './path-watch.ts';

/** Changes are collected for this time before the client is notified. */
const COLLECT_MS = 100;
/** If more paths change at once, one change of the watched path itself stands for the rest. */
const PATHS_MAX = 1000;
const WATCHES_MAX = 1000;

export interface FileWatchesOptions {
  clock: Clock;
  log: Log;
  notify: (connection: number, changed: FsChangedNotification) => void;
  /** Null while the client keeps up with its notifications; else resolves once it has caught up. */
  drained: (connection: number) => Promise<void> | null;
}

/** The paths that clients watch. A watch belongs to its connection and ends with it. */
export class FileWatches {
  readonly #options: FileWatchesOptions;
  readonly #connections = new Map<number, Map<string, FileWatch>>();

  constructor(options: FileWatchesOptions) {
    this.#options = options;
  }

  /** Must be called before a connection can watch. */
  open(connection: number): void {
    this.#connections.set(connection, new Map());
  }

  /**
   * Begins a watch, and resolves once no later change can be missed. The returned function begins
   * to notify the client.
   */
  async add(connection: number, watchId: string, path: string): Promise<() => void> {
    const watches = this.#connections.get(connection);
    // The connection has ended.
    if (watches === undefined) return () => {};
    if (watches.has(watchId)) throw watchIdTaken(watchId);
    if (watches.size >= WATCHES_MAX) throw tooManyWatches(WATCHES_MAX);
    const watch = new FileWatch({ ...this.#options, connection, watchId, path });
    watches.set(watchId, watch);
    try {
      await watch.start();
    } catch (error) {
      watches.delete(watchId);
      throw error;
    }
    return () => watch.beginNotifying();
  }

  /** Ends a watch. The client gets no more of its notifications. */
  remove(connection: number, watchId: string): void {
    const watches = this.#connections.get(connection);
    watches?.get(watchId)?.end();
    watches?.delete(watchId);
  }

  /** Ends all watches of a connection that has ended. */
  endConnection(connection: number): void {
    for (const watch of this.#connections.get(connection)?.values() ?? []) watch.end();
    this.#connections.delete(connection);
  }
}

class FileWatch {
  readonly #options: FileWatchesOptions & { connection: number; watchId: string; path: string };
  readonly #changed = new Set<string>();
  #watch: PathWatch | null = null;
  #timer: Timer | null = null;
  #notifying = false;
  #ended = false;

  constructor(options: FileWatchesOptions & { connection: number; watchId: string; path: string }) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { path, watchId, log } = this.#options;
    const watch = await PathWatch.start(path, {
      onChange: (changed) => this.#add(changed),
      onLost: (error) =>
        log.warn({ err: error, watchId }, 'a watched path can no longer be followed'),
    });
    if (this.#ended) watch.close();
    else this.#watch = watch;
  }

  beginNotifying(): void {
    this.#notifying = true;
    if (this.#changed.size > 0) this.#schedule();
  }

  end(): void {
    this.#ended = true;
    this.#timer?.clear();
    this.#watch?.close();
  }

  #add(path: string): void {
    if (this.#ended || isDraftName(path)) return;
    this.#changed.add(this.#changed.size < PATHS_MAX ? path : this.#options.path);
    if (this.#notifying) this.#schedule();
  }

  #schedule(): void {
    if (!this.#ended)
      this.#timer ??= this.#options.clock.setTimer(() => void this.#notify(), COLLECT_MS);
  }

  async #notify(): Promise<void> {
    const { connection, watchId, drained, notify } = this.#options;
    for (let backlog = drained(connection); backlog !== null; backlog = drained(connection))
      await backlog;
    this.#timer = null;
    if (this.#ended) return;
    const changedPaths = [...this.#changed].sort();
    this.#changed.clear();
    notify(connection, { watchId, changedPaths });
  }
}
