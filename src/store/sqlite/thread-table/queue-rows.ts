import type { Database, Statement } from 'better-sqlite3';
import { isObject } from '../../../base/json-value.ts';
import type { QueuedSubmission } from '../../../protocol/generated/types.ts';
import type { ThreadPatch } from '../../thread-record.ts';
import { Damage } from '../connect/as-store-error.ts';
import type { Blobs } from '../history/blobs.ts';

/** The contents of the submissions that wait in the queues of threads. */
export class QueueRows {
  readonly #put: Statement<[string, string, string]>;
  readonly #get: Statement<[string, string], string>;
  readonly #list: Statement<[string], { id: string; payload: string }>;
  readonly #keepOnly: Statement<[string, string]>;
  readonly #blobs: Blobs;

  constructor(db: Database, blobs: Blobs) {
    this.#blobs = blobs;
    this.#put = db.prepare(
      'INSERT INTO queued_submission (thread_id, id, payload) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET payload = excluded.payload',
    );
    this.#get = db
      .prepare<[string, string], string>(
        'SELECT payload FROM queued_submission WHERE thread_id = ? AND id = ?',
      )
      .pluck();
    this.#list = db.prepare('SELECT id, payload FROM queued_submission WHERE thread_id = ?');
    this.#keepOnly = db.prepare(
      'DELETE FROM queued_submission WHERE thread_id = ? AND id NOT IN (SELECT value FROM json_each(?))',
    );
  }

  /**
   * Stores what a write has. `queue`: the new queue, without which others are removed; undefined:
   * it stays. `logId`: the thread's own log, which keeps the pieces of long texts.
   */
  store(
    threadId: string,
    { queued, queue }: { queued: readonly QueuedSubmission[]; queue: ThreadPatch['queue'] },
    logId: number,
  ): void {
    for (const submission of queued) this.#write(threadId, submission, logId);
    if (queue === undefined) return;
    const ids = (queue?.waiting ?? []).map(({ id }) => id);
    this.#keepOnly.run(threadId, JSON.stringify(ids));
  }

  /**
   * Reads those of the submissions that are there, in this order: at least one, and no more than
   * `bytesMax`. With stand-ins for long texts. Throws Damage.
   */
  read(threadId: string, ids: readonly string[], bytesMax: number): QueuedSubmission[] {
    const found: QueuedSubmission[] = [];
    let bytes = 0;
    for (const id of ids) {
      const payload = this.#get.get(threadId, id);
      if (payload === undefined) continue;
      bytes += payload.length + this.#blobs.measure(payload);
      if (found.length > 0 && bytes > bytesMax) break;
      found.push(this.#parse(payload));
    }
    return found;
  }

  clear(threadId: string): void {
    this.#keepOnly.run(threadId, '[]');
  }

  /** From now on, another log of the thread keeps the pieces of long texts. */
  move(threadId: string, logId: number): void {
    for (const { payload } of this.#list.all(threadId))
      this.#write(threadId, this.#parse(payload), logId);
  }

  #write(threadId: string, submission: QueuedSubmission, logId: number): void {
    this.#put.run(threadId, submission.id, this.#blobs.encode(submission, logId));
  }

  #parse(payload: string): QueuedSubmission {
    const value = this.#blobs.decode(payload, { inParts: true });
    if (!isObject(value) || !Array.isArray(value.input))
      throw new Damage('an entry of a queue is malformed');
    return value as unknown as QueuedSubmission;
  }
}
