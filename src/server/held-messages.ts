import type { OutgoingMessage } from '../transport/outgoing-message.ts';

/** Passes on the notifications and requests to a client, but holds them back at times. */
export class HeldMessages {
  readonly #send: (message: OutgoingMessage) => void;
  #holds = 0;
  #held: OutgoingMessage[] = [];

  constructor(send: (message: OutgoingMessage) => void) {
    this.#send = send;
  }

  send(message: OutgoingMessage): void {
    if (this.#holds > 0) this.#held.push(message);
    else this.#send(message);
  }

  /** From now on, messages wait. Returns the function that passes them on, in their order. */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds = Math.max(0, this.#holds - 1);
      if (this.#holds === 0) this.releaseAll();
    };
  }

  /** Passes on what waits, whoever holds it back: the connection ends. */
  releaseAll(): void {
    this.#holds = 0;
    for (const message of this.#held.splice(0)) this.#send(message);
  }
}
