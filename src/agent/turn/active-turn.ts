import { setMaxListeners } from 'node:events';
import type { JsonValue } from '../../base/json-value.ts';
import type { NonSteerableTurnKind } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { TurnOverrides } from '../settings/turn-overrides.ts';
import type { ArrivedInput } from './turn-input.ts';

/**
 * The kind of a turn, by what began it: input of a client, a user command, the goal of the thread,
 * a review, which takes no input, or a request to compact the thread.
 */
export type TurnKind = 'user' | 'shell' | 'goal' | 'review' | 'compact';

/**
 * Input that arrives during a turn. `deferred`: stored items for the model only, which it reads
 * after its current response.
 */
export type Arrival = ArrivedInput | 'deferred';

/** Keeps a running turn from ending while input for it is being stored. */
export interface InputReservation {
  /** Adds the input to the turn. Called after it is stored and its request is answered. */
  deliver(input: Arrival): void;
  /** Ends the reservation without input, for example because the input could not be stored. */
  release(): void;
}

/**
 * A running turn: its signal, and the input that arrives while it runs. Whether it takes more input
 * is decided here, in memory and at once, so that no input is lost and no client is given the id of
 * a turn that will not run its input.
 */
export class ActiveTurn {
  readonly id: string;
  /** The turn that it belongs to: that of the thread that started this agent, or itself. */
  readonly rootTurnId: string;
  readonly kind: TurnKind;
  readonly startedAtMs: number;
  /** The same time on the monotonic clock. */
  readonly startedMs: number;
  /**
   * The settings of its next model request. Changes of the thread's settings count from the next
   * turn on.
   */
  settings: ThreadSettings;
  outputSchema: JsonValue;
  /** The facts that its client adds to requests. */
  clientMetadata: Readonly<Record<string, string>> = {};
  /**
   * Whether work runs before the model is asked. Input that joins the turn meanwhile is answered
   * with its own settings and schema.
   */
  isOpening = false;
  /** The state that the provider wants back within the turn. */
  providerState: string | null = null;
  /** The changes of clients for this turn only. */
  readonly changes: TurnOverrides[] = [];
  /**
   * Why the turn takes no steering now: work of this kind runs in it. Null: it takes it. A review
   * takes no other input either.
   */
  steerRefusal: NonSteerableTurnKind | null;
  /** Resolves when the turn's end has been announced. */
  readonly finished: Promise<void>;
  readonly markFinished: () => void;

  // Every command that runs in the turn adds a listener.
  readonly #abort = unboundController();
  readonly #over = unboundController();
  #interruptCause: InterruptCause | null = null;
  #request: AbortController | null = null;
  #newInput = unboundController();
  #inputs: Arrival[] = [];
  #reservations = 0;
  #holds = 0;
  #closed = false;
  #acceptedInterrupts = 0;
  #isEndFixed = false;
  #onChange: (() => void)[] = [];

  constructor(
    options: Pick<
      ActiveTurn,
      'id' | 'kind' | 'startedAtMs' | 'startedMs' | 'settings' | 'outputSchema'
    > & { rootTurnId?: string },
  ) {
    this.id = options.id;
    this.rootTurnId = options.rootTurnId ?? options.id;
    this.kind = options.kind;
    this.startedAtMs = options.startedAtMs;
    this.startedMs = options.startedMs;
    this.settings = options.settings;
    this.outputSchema = options.outputSchema;
    this.steerRefusal =
      options.kind === 'review' || options.kind === 'compact' ? options.kind : null;
    let markFinished = () => {};
    this.finished = new Promise((resolve) => {
      markFinished = resolve;
    });
    this.markFinished = markFinished;
  }

  /** Aborts when the turn is interrupted. Every wait of the turn takes this signal. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Null if the turn was not interrupted. */
  get interruptCause(): InterruptCause | null {
    return this.#interruptCause;
  }

  /**
   * Aborts when input arrives that the model has to read soon. There is another signal once that
   * input is taken.
   */
  get newInput(): AbortSignal {
    return this.#newInput.signal;
  }

  /**
   * Interrupts the turn; may be called again. The cause `user` replaces others; otherwise the first
   * cause counts. Does nothing if how the turn ends is fixed already.
   */
  interrupt(cause: InterruptCause): void {
    if (this.#isEndFixed) return;
    if (cause === 'user') this.#interruptCause = cause;
    this.#interruptCause ??= cause;
    this.#abort.abort();
    this.#request?.abort();
  }

  /**
   * Accepts an interrupt of the user: the turn then ends interrupted. Returns the function that
   * interrupts, which must be called; null if how the turn ends is fixed already. Closes the turn
   * to input.
   */
  acceptInterrupt(): (() => void) | null {
    if (this.#isEndFixed) return null;
    this.refuseInput();
    this.#acceptedInterrupts++;
    let isTaken = false;
    return () => {
      if (isTaken) return;
      isTaken = true;
      this.#acceptedInterrupts--;
      this.interrupt('user');
      this.#wake();
    };
  }

  /**
   * Waits for the interrupts that were accepted. From then on, none is accepted, and `signal` says
   * whether the turn was interrupted.
   */
  async fixEnd(): Promise<void> {
    while (this.#acceptedInterrupts > 0) await this.#change();
    this.#isEndFixed = true;
  }

  /** Aborts when the turn ends, however it ends. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** To be called when the turn ends, before its end is stored. Closes it to input. */
  end(): void {
    this.refuseInput();
    this.#over.abort();
  }

  /** Closes the turn to input. Later input is for the next turn. */
  refuseInput(): void {
    this.#closed = true;
  }

  /**
   * Reserves the turn for more input; null if the turn is closed to input or takes none. Stops the
   * current response, which would otherwise be stored after input that the model had not read. With
   * `isDeferred`, the response continues, because the input waits for its end.
   */
  reserveInput({ isDeferred = false } = {}): InputReservation | null {
    if (this.#closed || this.kind === 'review') return null;
    this.#reservations++;
    if (!isDeferred) {
      this.#request?.abort();
      this.#newInput.abort();
    }
    let open = true;
    const leave = () => {
      if (!open) return false;
      open = false;
      this.#reservations--;
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

  /**
   * Keeps the turn from ending until the returned function is called; null if the turn is closed to
   * input.
   */
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

  /** Resolves when no `hold` is left. */
  async released(): Promise<void> {
    while (this.#holds > 0) await this.#change();
  }

  /** Waits for open reservations, and returns the input that has arrived since the last call. */
  async takeInputs(): Promise<Arrival[]> {
    while (this.#reservations > 0) await this.#change();
    if (this.#newInput.signal.aborted) this.#newInput = unboundController();
    return this.#inputs.splice(0);
  }

  /**
   * Waits for reservations and, while there is no input, for holds. Returns whether there is input
   * to take.
   */
  async hasInput(): Promise<boolean> {
    while (this.#reservations > 0 || (this.#holds > 0 && this.#inputs.length === 0))
      await this.#change();
    return this.#inputs.length > 0;
  }

  /**
   * Waits for reservations and, while there is no input, for holds. Then closes the turn to input
   * unless some has arrived. Returns true if it is closed and may end, false if there is input to
   * take.
   */
  async closeUnlessInput(): Promise<boolean> {
    if (await this.hasInput()) return false;
    this.#closed = true;
    return true;
  }

  /**
   * Returns the signal of one model request. An interrupt aborts it, and so does new input, which
   * needs a new request.
   */
  beginRequest(): AbortSignal {
    this.#request = new AbortController();
    if (this.signal.aborted || this.#inputs.length > 0 || this.#reservations > 0)
      this.#request.abort();
    return this.#request.signal;
  }

  endRequest(): void {
    this.#request = null;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#onChange.splice(0)) resolve();
  }
}

/** A controller whose signal takes any number of listeners. */
function unboundController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
