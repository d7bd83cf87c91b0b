import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../../../base/log.ts';
import { leaveRequestFile, leaveRequestOf } from './gate.ts';

export interface LeaveRequestsOptions {
  /** The database file. */
  file: string;
  log: Log;
  /**
   * Called for a new request, in case that this process makes no calls. If it rejects, the next
   * call says why.
   */
  onRequest: () => Promise<void>;
}

/**
 * The requests of other processes to leave the database file for a moment, because they want to
 * repair it.
 */
export class LeaveRequests {
  readonly #options: LeaveRequestsOptions;
  #followed: string | null;
  readonly #watcher: FSWatcher | null;

  constructor(options: LeaveRequestsOptions) {
    this.#options = options;
    this.#followed = leaveRequestOf(options.file);
    this.#watcher = this.#watch();
  }

  /** Whether there is a request that this process has not followed. Takes microseconds. */
  get isNew(): boolean {
    const request = leaveRequestOf(this.#options.file);
    return request !== null && request !== this.#followed;
  }

  /** Call it before leaving. */
  follow(): void {
    this.#followed = leaveRequestOf(this.#options.file);
  }

  close(): void {
    this.#watcher?.close();
  }

  #watch(): FSWatcher | null {
    const { file, log, onRequest } = this.#options;
    const follow = async () => {
      if (this.isNew) await onRequest();
    };
    const failed = (error: unknown) =>
      log.warn(
        { err: error },
        'a request of another process to leave the database could not be followed',
      );
    try {
      const watcher = watch(dirname(leaveRequestFile(file)), { persistent: false }, () => {
        follow().catch(failed);
      });
      return watcher.on('error', () => {});
    } catch (error) {
      log.debug(
        { err: error },
        'the folder of lock files cannot be watched: requests to leave the database wait for the next call',
      );
      return null;
    }
  }
}
