import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/client';
import { isObject, type JsonObject } from '../../base/json-value.ts';

const URL_ELICITATION_REQUIRED = -32042;
/** The most addresses that a user is asked about for one call. */
const VISITS_MAX = 4;
const VISIT_MS_MAX = 30_000;
/** How often a request is sent. */
const SENT_MAX = 20;
/** The most visits whose end is remembered, and the longest id of one. */
const REMEMBERED_MAX = 100;
const ID_CHARS_MAX = 1_000;

/** An address that the user has to visit, as the server asks for it. */
type Visit = JsonObject & { elicitationId: string };

interface VisitingRequest<Result> {
  send: () => Promise<Result>;
  /** Asks the user about an address. Resolves with whether the user has accepted. */
  accepts: (visit: JsonObject) => Promise<boolean>;
  signal: AbortSignal;
}

/**
 * Requests to a server that wants the user to visit addresses first, such as the page of a login
 * (URL elicitation).
 */
export class UrlElicitations {
  /** Those who wait for the end of a visit, by its id. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /**
   * The visits that are complete and for which nobody has waited yet: a server can say so right
   * after the error that asks for them.
   */
  readonly #completed = new Set<string>();
  readonly #visitMsMax: number;

  /**
   * `visitMsMax`: how long a request waits for visits before it is sent again. Not every server
   * says that a visit is complete.
   */
  constructor(visitMsMax = VISIT_MS_MAX) {
    this.#visitMsMax = visitMsMax;
  }

  /** To be called when the server says that a visit is complete. */
  completed(elicitationId: string): void {
    const waiting = this.#waiting.get(elicitationId);
    if (waiting !== undefined) for (const resolve of waiting) resolve();
    else if (elicitationId.length <= ID_CHARS_MAX) this.#remember(elicitationId);
  }

  /**
   * Sends a request, and again after each error that asks for visits: when the user has accepted
   * the new ones, and the server says that all are complete, or has not said so in time. Rejects
   * with that error if the user declines, and if there are too many visits.
   */
  async perform<Result>({ send, accepts, signal }: VisitingRequest<Result>): Promise<Result> {
    const accepted = new Set<string>();
    for (let sent = 1; ; sent++) {
      try {
        return await send();
      } catch (error) {
        const visits = requiredVisits(error);
        const added = visits.filter(({ elicitationId }) => !accepted.has(elicitationId));
        if (visits.length === 0 || accepted.size + added.length > VISITS_MAX || sent === SENT_MAX)
          throw error;
        await this.#during(visits, signal, async () => {
          for (const visit of added) {
            if (!(await accepts(visit))) throw error;
            accepted.add(visit.elicitationId);
          }
        });
      }
    }
  }

  /**
   * Asks, and then waits for the end of the visits. One that ends while the user is still asked
   * counts.
   */
  async #during(
    visits: readonly Visit[],
    signal: AbortSignal,
    ask: () => Promise<void>,
  ): Promise<void> {
    const over = new AbortController();
    const ends = visits.map(({ elicitationId }) => this.#end(elicitationId, over.signal));
    try {
      await ask();
      const inTime = AbortSignal.any([signal, over.signal]);
      await Promise.race([
        Promise.all(ends),
        sleep(this.#visitMsMax, undefined, { signal: inTime, ref: false }),
      ]);
    } finally {
      over.abort();
    }
  }

  #remember(elicitationId: string): void {
    this.#completed.add(elicitationId);
    const [oldest] = this.#completed;
    if (this.#completed.size > REMEMBERED_MAX && oldest !== undefined)
      this.#completed.delete(oldest);
  }

  /** Resolves when a visit is complete. Waits no longer once the signal aborts. */
  #end(elicitationId: string, over: AbortSignal): Promise<void> {
    if (this.#completed.delete(elicitationId)) return Promise.resolve();
    const waiting = this.#waiting.get(elicitationId) ?? new Set();
    this.#waiting.set(elicitationId, waiting);
    return new Promise((resolve) => {
      waiting.add(resolve);
      over.addEventListener('abort', () => {
        waiting.delete(resolve);
        if (waiting.size === 0) this.#waiting.delete(elicitationId);
      });
    });
  }
}

/** The visits that an error asks for. Empty: the error is another one. */
function requiredVisits(error: unknown): Visit[] {
  if (
    !(error instanceof ProtocolError) ||
    error.code !== URL_ELICITATION_REQUIRED ||
    !isObject(error.data)
  )
    return [];
  const { elicitations } = error.data;
  if (!Array.isArray(elicitations) || elicitations.length > VISITS_MAX) return [];
  const visits = elicitations.filter(
    (each): each is Visit => isObject(each) && typeof each.elicitationId === 'string',
  );
  return visits.length < elicitations.length
    ? []
    : visits.map((visit) => ({ ...visit, mode: 'url' }));
}
