import { expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { idOf } from '../support/counting-ids.ts';
import { ANY_ID, timed } from '../support/expected.ts';
import { failed, messageBegun, reasoning, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

const RESPONSE_CHARS_MAX = 32 * 1024 * 1024;
const PIECE = 'x'.repeat(1024 * 1024);

/** Endless, and counts the events that were taken. */
class FloodingModel extends TestModel {
  taken = 0;
  readonly #events: readonly ModelEvent[];

  constructor(...events: ModelEvent[]) {
    super();
    this.#events = events;
  }

  override async *stream(): AsyncGenerator<ModelEvent> {
    for (let index = 0; ; index++) {
      const event = this.#events[Math.min(index, this.#events.length - 1)];
      if (event !== undefined) yield event;
      this.taken++;
    }
  }
}

const floods: [string, ModelEvent[]][] = [
  ['text', [...messageBegun('a'), { type: 'textDelta', itemId: 'msg_1', delta: PIECE }]],
  ['text of no item', [{ type: 'textDelta', itemId: 'nobody', delta: PIECE }]],
  [
    'reasoning',
    [
      ...reasoning('a').slice(0, 1),
      { type: 'reasoningSummaryDelta', itemId: 'rs_1', index: 0, delta: PIECE },
    ],
  ],
  [
    'raw reasoning that is not shown',
    [
      ...reasoning('a').slice(0, 1),
      { type: 'reasoningDelta', itemId: 'rs_1', index: 0, delta: PIECE },
    ],
  ],
];

test.each(floods)(
  'a model that sends endless %s is stopped, and the turn fails and names the limit',
  async (_name, events) => {
    const model = new FloodingModel(...events);
    const server = await startServer({ model });
    await server.client.request('thread/start', {});
    expect(await server.client.turn(idOf(1), 'hi')).toMatchObject({
      status: 'failed',
      error: {
        message: `The model's response exceeded the limit of ${RESPONSE_CHARS_MAX} characters and was stopped.`,
        codexErrorInfo: 'other',
      },
    });
    expect(model.taken).toBeLessThan(RESPONSE_CHARS_MAX / PIECE.length + 4);
  },
);

test('a reasoning part with a huge index allocates nothing', async () => {
  const [begun, , said] = reasoning('far away');
  const far: ModelEvent[] = [1000, 2 ** 32 - 2, Number.MAX_SAFE_INTEGER].map(
    (index) => ({ ...said, index }) as ModelEvent,
  );
  const near = [{ ...said, index: 2 } as ModelEvent];
  const server = await startServer({
    model: new TestModel([begun as ModelEvent, ...far, ...near, failed('cut')]),
  });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'hi');
  const { thread } = await server.client.request('thread/read', {
    threadId: idOf(1),
    includeTurns: true,
  });
  expect(thread.turns[0]?.items[1]).toEqual(
    timed({ type: 'reasoning', id: ANY_ID, summary: ['', '', 'far away'], content: [] }),
  );
});
