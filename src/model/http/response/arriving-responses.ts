import type { Clock, Timer } from '../../../base/clock.ts';
import { orAborted } from '../../../base/or-aborted.ts';

/** Shorter lines do not count and do not wait. In characters, like all lengths here. */
const LONG_CHARS_MIN = 1024 * 1024;
/** While all long lines together have no more, none waits. */
const TOGETHER_CHARS_MAX = 16 * 1024 * 1024;
/** After this time another line may grow beside one that takes long to arrive, or to be used. */
const ALONE_MS_MAX = 10_000;
/**
 * No line waits longer. A provider or proxy that cannot send for a minute may break the response
 * off.
 */
const WAIT_MS_MAX = 50_000;
/** If all responses together have more, they take much memory. */
const ORDINARY_CHARS_MAX = 32 * 1024 * 1024;

/**
 * A response whose line may not grow to this length yet. `timer`: the time that it waits at most.
 */
interface Waiting {
  lineChars: number;
  timer: Timer;
  begin: () => void;
}

/**
 * Limits the memory that responses take while they arrive, for all providers. Long lines, which
 * repeat the text of a response, grow one after another: the others are not read from the network
 * until the caller has used the one that grows.
 */
export class ArrivingResponses {
  readonly #clock: Clock;
  /** In their order. */
  readonly #waiting = new Map<ArrivingResponse, Waiting>();
  /** The one whose line grows beyond the limit, and the time that it has for that. */
  #alone: { response: ArrivingResponse; timer: Timer } | null = null;
  #lineChars = 0;
  #chars = 0;
  readonly #onMuch: () => void;
  #hasTold = false;

  /** `onMuch` is called once, when responses that take much memory are under way. */
  constructor(clock: Clock, onMuch: () => void = () => {}) {
    this.#clock = clock;
    this.#onMuch = onMuch;
  }

  /** For one response. The owner must close it. */
  open(): ArrivingResponse {
    return new ArrivingResponse({
      receive: (more) => this.#receive(more),
      countLine: (more) => {
        this.#lineChars += more;
      },
      turn: (response, lineChars) => this.#turn(response, lineChars),
      leave: (response) => this.#leave(response),
    });
  }

  #receive(more: number): void {
    this.#chars += more;
    if (this.#hasTold || this.#chars <= ORDINARY_CHARS_MAX) return;
    this.#hasTold = true;
    this.#onMuch();
  }

  /**
   * Returns null if the response's line may become so long now, else a promise that resolves when
   * it may, or when it has left.
   */
  #turn(response: ArrivingResponse, lineChars: number): Promise<void> | null {
    if (this.#mayGrow(response, lineChars)) return null;
    return new Promise((begin) => {
      const timer = this.#clock.setTimer(() => {
        response.isFree = true;
        this.#begin(response);
      }, WAIT_MS_MAX);
      this.#waiting.set(response, { lineChars, timer, begin });
    });
  }

  #leave(response: ArrivingResponse): void {
    const waiting = this.#waiting.get(response);
    this.#waiting.delete(response);
    waiting?.timer.clear();
    waiting?.begin();
    if (this.#alone?.response === response) this.#endAlone();
    this.#wake();
  }

  #endAlone(): void {
    this.#alone?.timer.clear();
    this.#alone = null;
  }

  #mayGrow(response: ArrivingResponse, lineChars: number): boolean {
    if (response.isFree || this.#lineChars - response.lineChars + lineChars <= TOGETHER_CHARS_MAX)
      return true;
    if (this.#alone !== null) return this.#alone.response === response;
    const setFree = () => {
      response.isFree = true;
      this.#endAlone();
      this.#wake();
    };
    this.#alone = { response, timer: this.#clock.setTimer(setFree, ALONE_MS_MAX) };
    return true;
  }

  #wake(): void {
    for (const [response, { lineChars }] of this.#waiting) {
      if (!this.#mayGrow(response, lineChars)) return;
      this.#begin(response);
    }
  }

  /** Ends its waiting. */
  #begin(response: ArrivingResponse): void {
    const waiting = this.#waiting.get(response);
    if (waiting === undefined) return;
    this.#waiting.delete(response);
    waiting.timer.clear();
    response.growTo(waiting.lineChars);
    waiting.begin();
  }
}

interface Others {
  receive(more: number): void;
  countLine(more: number): void;
  turn(response: ArrivingResponse, lineChars: number): Promise<void> | null;
  leave(response: ArrivingResponse): void;
}

/**
 * One response. Its line is what has come of an event that has not ended, or of a body that is one
 * value.
 */
export class ArrivingResponse {
  readonly #others: Others;
  #chars = 0;
  /** The length of its line if that is long, else 0. */
  lineChars = 0;
  /** Whether its line may grow as it likes. */
  isFree = false;

  constructor(others: Others) {
    this.#others = others;
  }

  /**
   * To be called with each chunk before it is used, and with the length of the line that it
   * continues. Returns null if it may be used now, else a promise that resolves when it may, or
   * when the signal aborts.
   */
  receive(chunk: string, lineChars: number, signal: AbortSignal): Promise<unknown> | null {
    this.#chars += chunk.length;
    this.#others.receive(chunk.length);
    const grown = lineChars + chunk.length;
    if (grown < LONG_CHARS_MIN) return null;
    const turn = this.#others.turn(this, grown);
    if (turn === null) this.growTo(grown);
    return turn && orAborted(turn, signal);
  }

  /**
   * To be called when all lines before have been used, with the length of the one that continues.
   */
  used(lineChars: number): void {
    if (this.lineChars > 0 && lineChars < LONG_CHARS_MIN) this.#endLine();
  }

  close(): void {
    this.#endLine();
    this.#others.receive(-this.#chars);
    this.#chars = 0;
  }

  growTo(lineChars: number): void {
    this.#others.countLine(lineChars - this.lineChars);
    this.lineChars = lineChars;
  }

  #endLine(): void {
    this.isFree = false;
    this.growTo(0);
    this.#others.leave(this);
  }
}
