import { expect, test } from 'vitest';
import { ArrivingResponses } from '../../src/model/http/response/arriving-responses.ts';
import type { ModelEvent } from '../../src/model/model.ts';
import { FakeClock } from '../support/fake-clock.ts';
import {
  answered,
  answeredEvents,
  collect,
  completed,
  created,
  message,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  request,
  streaming,
} from './provider-server.ts';

const MI = 1024 * 1024;
const ALONE_MS = 10_000;
const WAIT_MS = 50_000;

const chunk = (chars: number) => 'x'.repeat(chars);

test('one line grows beyond the limit of all; the others follow in their order, each when the one before it has been used', async () => {
  const arriving = new ArrivingResponses(new FakeClock());
  const [first, second, third] = [arriving.open(), arriving.open(), arriving.open()];
  expect(first.receive(chunk(8 * MI), 0, never)).toBeNull();
  expect(second.receive(chunk(8 * MI), 0, never)).toBeNull();
  expect(first.receive(chunk(MI), 8 * MI, never)).toBeNull();
  const order: string[] = [];
  const waiting = [
    second.receive(chunk(MI), 8 * MI, never)?.then(() => order.push('second')),
    third.receive(chunk(2 * MI), 0, never)?.then(() => order.push('third')),
  ];
  expect(waiting).not.toContain(undefined);
  expect(first.receive(chunk(20 * MI), 9 * MI, never)).toBeNull();
  first.used(29 * MI);
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  first.used(10);
  await waiting[0];
  await waiting[1];
  expect(order).toEqual(['second', 'third']);
});

test('a line that takes long lets the next one grow beside it, and needs no turn any more', async () => {
  const clock = new FakeClock();
  const arriving = new ArrivingResponses(clock);
  const [slow, next, last] = [arriving.open(), arriving.open(), arriving.open()];
  expect(slow.receive(chunk(20 * MI), 0, never)).toBeNull();
  const turn = next.receive(chunk(2 * MI), 0, never);
  const lastTurn = last.receive(chunk(2 * MI), 0, never);
  clock.advance(ALONE_MS);
  await turn;
  expect(slow.receive(chunk(MI), 20 * MI, never)).toBeNull();
  slow.close();
  await lastTurn;
  next.close();
  last.close();
  expect(clock.timers).toEqual([]);
});

test('no line waits longer than a provider does, however many others are used slowly', async () => {
  const clock = new FakeClock();
  const arriving = new ArrivingResponses(clock);
  const responses = Array.from({ length: 10 }, () => arriving.open());
  const begun: number[] = [];
  responses.forEach(
    (response, index) =>
      void response.receive(chunk(17 * MI), 0, never)?.then(() => begun.push(index)),
  );
  const steps = [ALONE_MS, ALONE_MS, ALONE_MS, ALONE_MS, WAIT_MS - 4 * ALONE_MS];
  const seen: number[][] = [];
  for (const ms of steps) {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(begun.splice(0));
  }
  expect(seen).toEqual([[1], [2], [3], [4], [5, 6, 7, 8, 9]]);
  for (const response of responses) expect(response.receive(chunk(MI), 17 * MI, never)).toBeNull();
  for (const response of responses) response.close();
  expect(clock.timers).toEqual([]);
  expectEmpty(arriving);
});

test('short lines never wait, and a response that ends in any way leaves its turn to the next one', async () => {
  const clock = new FakeClock();
  const arriving = new ArrivingResponses(clock);
  const [first, second, third] = [arriving.open(), arriving.open(), arriving.open()];
  expect(first.receive(chunk(20 * MI), 0, never)).toBeNull();
  expect(second.receive(chunk(MI - 1), 0, never)).toBeNull();
  const over = new AbortController();
  const aborted = second.receive(chunk(2 * MI), 0, over.signal);
  const turn = third.receive(chunk(2 * MI), 0, never);
  over.abort();
  await aborted;
  second.close();
  first.close();
  await turn;
  third.close();
  expect(clock.timers).toEqual([]);
});

test('tells once that the responses under way take much memory', () => {
  let told = 0;
  const arriving = new ArrivingResponses(new FakeClock(), () => told++);
  const counts = [20, 12, 1, 40].map((length) => {
    void arriving.open().receive(chunk(length * MI), 0, never);
    return told;
  });
  expect(counts).toEqual([0, 0, 1, 1]);
});

test('responses that are over take no memory any more', () => {
  let told = 0;
  const arriving = new ArrivingResponses(new FakeClock(), () => told++);
  for (let n = 0; n < 10; n++) {
    const response = arriving.open();
    void response.receive(chunk(20 * MI), 0, never);
    response.close();
    response.close();
  }
  expect(told).toBe(0);
});

/**
 * A model whose responses share the memory with a line that takes all of it, until `release` is
 * called. `waits`: a response waits.
 */
async function crowded(reply: Reply) {
  const provider = await ProviderServer.start(reply);
  const arriving = new ArrivingResponses(new FakeClock());
  const other = arriving.open();
  void other.receive(chunk(17 * MI), 0, never);
  const open = () => ArrivingResponses.prototype.open.call(arriving);
  const waits = new Promise<void>((resolve) => {
    arriving.open = () => {
      const response = open();
      const receive = response.receive.bind(response);
      response.receive = (...args) => {
        const turn = receive(...args);
        if (turn !== null) resolve();
        return turn;
      };
      return response;
    };
  });
  const dispose = () => provider[Symbol.asyncDispose]();
  const { model, clock } = modelAt(provider.port, { streamIdleTimeoutMs: IDLE_MS }, { arriving });
  return {
    model,
    clock,
    waits,
    arriving,
    release: () => other.close(),
    [Symbol.asyncDispose]: dispose,
  };
}

const IDLE_MS = 500;
const LONG = 'a\n'.repeat(MI);
const long = streaming(created, ...message(LONG), completed);

/** No line is alone, and none counts. */
function expectEmpty(arriving: ArrivingResponses) {
  const [one, another] = [arriving.open(), arriving.open()];
  expect([one.receive(chunk(15 * MI), 0, never), another.receive(chunk(MI), 0, never)]).toEqual([
    null,
    null,
  ]);
}

async function typesOf(events: AsyncIterable<ModelEvent>): Promise<ModelEvent['type'][]> {
  return (await collect(events)).map(({ type }) => type);
}

test('a response that waits for the lines of others is not silent, and goes on when they are gone', async () => {
  await using setup = await crowded(long);
  const { model, clock, waits, release } = setup;
  const types = typesOf(model.stream(request, never));
  await waits;
  expect(clock.timers).toEqual([]);
  // More than any limit of the provider allows.
  clock.advance(IDLE_MS * 100);
  release();
  expect(await types).toEqual([
    'started',
    'itemStarted',
    'textDelta',
    'itemCompleted',
    'completed',
  ]);
});

test('a response that waits for the lines of others ends at once when it is interrupted, and leaves', async () => {
  await using setup = await crowded(long);
  const { model, waits, release, arriving } = setup;
  const over = new AbortController();
  const types = typesOf(model.stream(request, over.signal));
  await waits;
  over.abort();
  expect(await types).toEqual(['started']);
  release();
  expectEmpty(arriving);
});

test('a response that breaks off in a long line takes no memory from others', async () => {
  const broken: Reply = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(`data: ${LONG.replaceAll('\n', 'b')}`, () => res.destroy());
  };
  await using setup = await crowded(broken);
  const { model, waits, release, arriving } = setup;
  const types = typesOf(model.stream(request, never));
  await waits;
  release();
  expect(await types).toEqual(['started', 'failed']);
  expectEmpty(arriving);
});

test('a short response does not wait for the long lines of others', async () => {
  await using setup = await crowded(answered);
  expect(await collect(setup.model.stream(request, never))).toEqual(answeredEvents);
});
