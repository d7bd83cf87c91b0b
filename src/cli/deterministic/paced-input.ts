import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { createSplitter, type Framing, frame } from '../../transport/framing.ts';

/** 2026-01-01T00:00:00Z: when every run begins. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

/** What keeps an event loop alive without anything being done: open streams, handlers of signals, and what keeps the process alive. */
const AT_REST = new Set(['PipeWrap', 'TTYWrap', 'TCPSocketWrap', 'SignalWrap', 'Timeout']);

interface VirtualTimer {
  atMs: number;
  callback: () => void;
}

/** Time that stands still until somebody lets it go on. */
export class VirtualClock implements Clock {
  #nowMs = EPOCH_MS;
  readonly #timers = new Set<VirtualTimer>();

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs - EPOCH_MS;
  }

  setTimer(callback: () => void, ms: number): Timer {
    const timer = { atMs: this.#nowMs + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return { clear: () => this.#timers.delete(timer) };
  }

  /** Goes on to the next timer and rings it. False where there is none. */
  advance(): boolean {
    const [next] = [...this.#timers].filter(({ atMs }) => Number.isFinite(atMs)).sort((a, b) => a.atMs - b.atMs);
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.callback();
    return true;
  }
}

/** Ids that count: UUIDs of version 7, all of the same millisecond. */
export class CountingIds implements Ids {
  #count = 0;

  next(): string {
    const [high = '', low = ''] = [EPOCH_MS.toString(16).padStart(12, '0'), (++this.#count).toString(16).padStart(12, '0')];
    return `${high.slice(0, 8)}-${high.slice(8)}-7000-8000-${low}`;
  }
}

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
