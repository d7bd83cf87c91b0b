import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createSplitter, type Framing, frame } from '../../transport/framing.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** Resources that keep an event loop alive although nothing happens: open streams, signal handlers, the timer of `KeepAlive`. */
const AT_REST = new Set(['PipeWrap', 'TTYWrap', 'TCPSocketWrap', 'SignalWrap', 'Timeout']);

export interface PacedInput {
  from: Readable;
  framing: Framing;
  clock: VirtualClock;
  /** The number of running turns. */
  turnsRunning: () => number;
  /** The number of open requests to clients. */
  questionsOpen: () => number;
  /** The kinds of all resources that keep the process alive (`process.getActiveResourcesInfo`). */
  activeResources: () => string[];
}

/**
 * Passes messages on one by one, each when the server has done everything that it can do without the message. So nothing
 * depends on how fast they come. While a turn waits for a timer, the clock advances. If a turn waits for something else (a model
 * that hangs) or for a client's response, the next message is passed on, since it may be that response. After the last message,
 * the clock advances for open requests too.
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

/** Waits until the process is at rest in two rounds of the event loop in a row: work in one round may lead to more in the next. */
async function untilTwice(isAtRest: () => boolean): Promise<void> {
  for (let rounds = 0; rounds < 2; rounds = isAtRest() ? rounds + 1 : 0) await setImmediate();
}
