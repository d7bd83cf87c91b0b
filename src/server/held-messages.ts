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
      if (--this.#holds > 0) return;
      for (const message of this.#held.splice(0)) this.#send(message);
    };
  }
}
