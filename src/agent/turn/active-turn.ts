import { setMaxListeners } from 'node:events';
import type { JsonValue } from '../../base/json-value.ts';
import type { ResponseItem, ThreadItem } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';
import type { InterruptCause, TurnContext, TurnKind } from './turn-part.ts';

/** What a user gave: as clients see it, and as the model reads it. Both are stored already. */
export interface TurnInput {
  item: ThreadItem;
  model: ResponseItem[];
  atMs: number;
}

/** What comes while a turn runs. `deferred`: stored for the model alone, which reads it once it has said what it is saying. */
export type Arrival = TurnInput | 'deferred';

/** A place for input in a running turn, taken while the input is being stored. */
export interface InputReservation {
  /** Hands the input over, now that it is stored and its request is answered. */
  deliver(input: Arrival): void;
  /** Gives the place up: the input could not be stored. */
  release(): void;
}

/**
 * A turn that runs: its one signal, and the input that comes while it runs. Whether more input can join is decided here,
 * in memory and at once, so that no text is lost and no id is given out that will not run.
 */
export class ActiveTurn implements TurnContext {
  readonly id: string;
  readonly kind: TurnKind;
  readonly startedAtMs: number;
  /** What its next model request is made with. What a client changes of the thread meanwhile is for the next turn. */
  settings: ThreadSettings;
  readonly outputSchema: JsonValue;
  /** Resolves when the turn's end has been announced. */
  readonly finished: Promise<void>;
  readonly markFinished: () => void;

  readonly #abort = new AbortController();
  #interruptCause: InterruptCause | null = null;
  #request: AbortController | null = null;
  #inputs: Arrival[] = [];
  #places = 0;
  #holds = 0;
  #closed = false;
  #onInput: (() => void)[] = [];

  constructor(options: { id: string; kind: TurnKind; startedAtMs: number; settings: ThreadSettings; outputSchema: JsonValue }) {
    // As many wait for its end as commands run in it.
    setMaxListeners(0, this.#abort.signal);
    this.id = options.id;
    this.kind = options.kind;
    this.startedAtMs = options.startedAtMs;
    this.settings = options.settings;
    this.outputSchema = options.outputSchema;
    let markFinished = () => {};
    this.finished = new Promise((resolve) => {
      markFinished = resolve;
    });
    this.markFinished = markFinished;
  }

  /** Aborts when the turn is interrupted; every wait of the turn takes it. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why the turn was interrupted; null if it was not. */
  get interruptCause(): InterruptCause | null {
    return this.#interruptCause;
  }

  /** Ends the turn as interrupted. The user's cause counts over others; else the first one does. Harmless when repeated. */
  interrupt(cause: InterruptCause): void {
    if (cause === 'user') this.#interruptCause = cause;
    this.#interruptCause ??= cause;
    this.#abort.abort();
    this.#request?.abort();
  }

  /** Takes no more input: what comes from now on is for the next turn. */
  refuseInput(): void {
    this.#closed = true;
  }

  /**
   * Takes a place for more input; null when the turn is past taking any. What the model is saying ends here, unless the
   * input waits for its end (`isDeferred`): else it would be stored behind an input that it does not know.
   */
  reserveInput({ isDeferred = false } = {}): InputReservation | null {
    if (this.#closed) return null;
    this.#places++;
    if (!isDeferred) this.#request?.abort();
    let open = true;
    const leave = () => {
      if (!open) return false;
      open = false;
      this.#places--;
      return true;
    };
    return {
      deliver: (input) => {
        if (!leave()) return;
        this.#inputs.push(input);
        this.#wake();
      },
      release: () => {
        if (leave()) this.#wake();
      },
    };
  }

  /** Keeps the turn from ending before what it gives is called; null when it is past that. */
  hold(): (() => void) | null {
    if (this.#closed) return null;
    this.#holds++;
    let held = true;
    return () => {
      if (held) this.#holds--;
      held = false;
      this.#wake();
    };
  }

  /** Resolves when nothing holds the turn any more. */
  async released(): Promise<void> {
    while (this.#holds > 0) await this.#change();
  }

  /** Whether something waits until the model has said what it is saying. */
  get hasDeferred(): boolean {
    return this.#inputs.includes('deferred');
  }

  /** The input that has come since the last call, once what a place was taken for has come too. */
  async takeInputs(): Promise<Arrival[]> {
    while (this.#places > 0) await this.#change();
    return this.#inputs.splice(0);
  }

  /**
   * Closes the turn to input, unless some has come or is coming. True: it is closed, and the turn may end.
   * False: take the input and go on.
   */
  async closeUnlessInput(): Promise<boolean> {
    while (this.#places > 0 || (this.#holds > 0 && this.#inputs.length === 0)) await this.#change();
    if (this.#inputs.length > 0) return false;
    this.#closed = true;
    return true;
  }

  /** A signal for one model request: an interrupt aborts it, and so does new input, for which the model is asked again. */
  beginRequest(): AbortSignal {
    this.#request = new AbortController();
    if (this.signal.aborted || this.#inputs.length > 0 || this.#places > 0) this.#request.abort();
    return this.#request.signal;
  }

  endRequest(): void {
    this.#request = null;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onInput.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#onInput.splice(0)) resolve();
  }
}
