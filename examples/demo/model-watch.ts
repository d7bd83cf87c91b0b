import { type Notification, showText } from 'heddle/client';

/** So much time a model has until its first answer is complete, from the start of the demo on. */
const FIRST_MS_MAX = 12_000;
/** How long nothing may come from the server after that. */
const SILENT_MS_MAX = 15_000;

export interface WatchOptions {
  model: string;
  firstMsMax?: number;
  silentMsMax?: number;
}

/**
 * Ends the demo if a provider takes requests and does not answer them, whichever part of an answer
 * is missing.
 */
export class ModelWatch {
  /** Rejects with the reason when the model has taken too long. Never resolves. */
  readonly tooLate: Promise<never>;
  readonly #model: string;
  readonly #silentMsMax: number;
  #reject: (error: Error) => void = () => {};
  #timer: NodeJS.Timeout;
  /** The last failure of a request that is repeated. */
  #failure: string | null = null;
  #hasBegun = false;
  #hasAnswered = false;

  constructor({ model, firstMsMax = FIRST_MS_MAX, silentMsMax = SILENT_MS_MAX }: WatchOptions) {
    this.#model = showText(model);
    this.#silentMsMax = silentMsMax;
    this.tooLate = new Promise((_resolve, reject) => {
      this.#reject = reject;
    });
    // The reader comes later than the first failure, or never.
    this.tooLate.catch(() => {});
    this.#timer = setTimeout(
      () => this.#fail(`did not complete its first answer within ${firstMsMax / 1000} s`),
      firstMsMax,
    );
  }

  /** Takes a notification of the server. */
  receive({ method, params }: Notification): void {
    if (method === 'error') {
      this.#failure = showText(params.error.message.trim());
      return;
    }
    if (method === 'item/agentMessage/delta') this.#hasBegun = true;
    if (method === 'turn/completed') this.#hasAnswered = true;
    if (!this.#hasAnswered) return;
    this.#failure = null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#fail(`was silent for ${this.#silentMsMax / 1000} s`),
      this.#silentMsMax,
    );
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #fail(problem: string): void {
    const reason =
      this.#failure ??
      (this.#hasBegun || this.#hasAnswered ? 'It has begun an answer.' : 'Nothing came from it.');
    const sentence = reason.replace(/(?<![.!?])$/, '.');
    const advice =
      'If the model has to be loaded first, ask it something, and start the demo again.';
    this.#reject(
      new Error(
        `the model ${this.#model} ${problem}. ${sentence} ${advice} Or leave out --model: the embedded model needs no network.`,
      ),
    );
  }
}
