import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createSplitter, type Framing, frame } from '../../transport/framing.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What keeps an event loop alive without anything being done: open streams, handlers of signals, and what keeps the process alive. */
const AT_REST = new Set(['PipeWrap', 'TTYWrap', 'TCPSocketWrap', 'SignalWrap', 'Timeout']);

export interface PacedInput {
  from: Readable;
  framing: Framing;
  clock: VirtualClock;
  /** How many turns run. */
  turnsRunning: () => number;
  /** How many requests of the server's wait for an answer. */
  questionsOpen: () => number;
  /** The kinds of everything that the process waits for (`process.getActiveResourcesInfo`). */
  activeResources: () => string[];
}

/**
 * Hands messages on one by one, each when the server has done all that it can do without it: so nothing depends on how
 * fast they come. While a turn waits for time to pass, time passes; one that waits for something else (a model that
 * hangs) lets the next message in, and so does a question to the client: the answer may be that message. Time passes for
 * what is still asked when there are no more messages.
 */
export function pacedInput(options: PacedInput): Readable {
  return Readable.from(paced(options), { objectMode: false });
}

async function* paced({ from, framing, clock, turnsRunning, questionsOpen, activeResources }: PacedInput): AsyncGenerator<Buffer> {
  const isAtRest = () => activeResources().every((kind) => AT_REST.has(kind));
  const texts: string[] = [];
  const take = (text: string) => void texts.push(text);
  const splitter = createSplitter(framing, take, () => {});
  const settle = async ({ mayAnswer = true } = {}) => {
    do await untilTwice(isAtRest);
    while (turnsRunning() > 0 && !(mayAnswer && questionsOpen() > 0) && clock.advance());
  };
  for await (const chunk of from) {
    splitter.push(chunk as Buffer);
    for (const text of texts.splice(0)) {
      yield Buffer.from(frame(framing, [text]));
      await settle();
    }
  }
  splitter.end();
  for (const text of texts) {
    yield Buffer.from(frame(framing, [text]));
    await settle();
  }
  await settle({ mayAnswer: false });
}

/** What has just been done may lead to more in the next round of the event loop: it has to be at rest in two of them. */
async function untilTwice(isAtRest: () => boolean): Promise<void> {
  for (let rounds = 0; rounds < 2; rounds = isAtRest() ? rounds + 1 : 0) await setImmediate();
}
