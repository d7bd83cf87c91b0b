import type { Log } from '../../base/log.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Awaitable, TurnContext, TurnPart } from './turn-part.ts';

export interface PartGuardDeps {
  threadId: string;
  log: Log;
}

/**
 * The result of a part; null if the signal aborts first. Adds a listener to the signal only for a
 * promise.
 */
export function returned<T>(value: Awaitable<T>, signal: AbortSignal): Awaitable<T | null> {
  return value instanceof Promise ? orAborted(value, signal) : value;
}

/** Calls the parts of a thread, and logs what they throw. */
export class PartGuard {
  readonly #parts: readonly TurnPart[];
  readonly #deps: PartGuardDeps;

  constructor(parts: readonly TurnPart[], deps: PartGuardDeps) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /**
   * The results of all parts in order, until the turn is interrupted. The error of a part is
   * logged.
   */
  async each<T extends object>(
    { id, signal }: TurnContext,
    message: string,
    work: (part: TurnPart) => Awaitable<T> | undefined,
  ): Promise<Partial<T>[]> {
    const results: Partial<T>[] = [];
    for (const part of this.#parts) {
      try {
        const result = work(part);
        if (result !== undefined) results.push((await returned(result, signal)) ?? {});
      } catch (error) {
        if (error instanceof StoreError) throw error;
        this.failed(message, { err: error, turnId: id });
      }
    }
    return results;
  }

  /**
   * The decision of a part; `otherwise` if it throws. The error is logged with this message.
   * Rejects only with the store's error.
   */
  async decided<T>(
    decide: () => Promise<T>,
    otherwise: T,
    { message, turnId }: { message: string; turnId: string },
  ): Promise<T> {
    try {
      return await decide();
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.failed(message, { err: error, turnId });
      return otherwise;
    }
  }

  /**
   * Returns the result of the work of a part, or `otherwise` if it throws; the error is logged with
   * this message.
   */
  attempt<T>(work: () => T, otherwise: T, message: string): T {
    try {
      return work();
    } catch (error) {
      this.failed(message, { err: error });
      return otherwise;
    }
  }

  failed(message: string, fields: object): void {
    const { log, threadId } = this.#deps;
    log.error({ ...fields, threadId }, message);
  }
}
