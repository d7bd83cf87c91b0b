import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../src/model/model.ts';
import { asked } from '../support/test-model.ts';
import {
  answered,
  collect,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
} from './provider-server.ts';

const reasoning = (id: string) => ({
  type: 'reasoning' as const,
  id,
  summary: [],
  encrypted_content: 'c2VhbA',
});
/** A conversation with the reasoning of two earlier responses. */
const replayed: ModelRequest = {
  ...request,
  input: [asked('a'), reasoning('rs_1'), asked('b'), reasoning('rs_2'), asked('c')],
};

/** The reasoning in a request: the ids, null for an item without one. */
function sentIn(body: unknown): (string | null)[] {
  const { input } = body as { input: { type: string; id?: string }[] };
  return input.filter(({ type }) => type === 'reasoning').map(({ id = null }) => id);
}

/**
 * Refuses reasoning without ids in the first way, and reasoning with ids in the second. Null: takes
 * it.
 */
function provider(withoutIds: object | null, withIds: object | null): Reply {
  return (res, req, body) => {
    const sent = sentIn(body);
    const refusal = sent.length === 0 ? null : sent[0] === null ? withoutIds : withIds;
    return (refusal === null ? answered : refusing(400, { error: refusal }))(res, req, body);
  };
}

const MISSING: [string, object][] = [
  [
    'OpenAI, Azure',
    {
      message: "Missing required parameter: 'input[1].id'.",
      param: 'input[1].id',
      code: 'missing_required_parameter',
    },
  ],
  ['Meta', { message: '`input[1]` missing required field `id`', param: 'input[1]', code: null }],
  ['a project of Azure', { message: 'The payload is invalid.', code: 'invalid_payload' }],
];
const UNUSABLE: [string, object][] = [
  [
    'of another key',
    {
      message: 'The encrypted content for item rs_1 could not be verified.',
      code: 'invalid_encrypted_content',
    },
  ],
  [
    'that is not stored',
    {
      message:
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
      param: 'input',
    },
  ],
  [
    'without what followed',
    {
      message: "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      param: 'input',
    },
  ],
  [
    'of two responses',
    {
      message: 'Conflicting authenticated continuation identities',
      param: 'input',
      code: 'invalid_value',
    },
  ],
];
const LOSS =
  ' The request is sent without input.reasoning. The model does not get back what it has thought before.';

describe('reasoning that is sent back', () => {
  test.each(MISSING)(
    'gets its ids for a provider that wants them, and for every later request: %s',
    async (_, refusal) => {
      await using server = await ProviderServer.start(provider(refusal, null));
      const { model } = modelAt(server.port);
      for (let n = 0; n < 2; n++) {
        const events = await collect(
          model.stream({ ...replayed, promptCacheKey: `thread-${n}` }, never),
        );
        expect(events.map(({ type }) => type)).toEqual([
          'started',
          'itemStarted',
          'textDelta',
          'itemCompleted',
          'completed',
        ]);
      }
      const ids = ['rs_1', 'rs_2'];
      expect(server.requests.map(({ body }) => sentIn(body))).toEqual([[null, null], ids, ids]);
    },
  );

  test.each(UNUSABLE)(
    'is left out for a provider that cannot use it, in this thread: %s',
    async (_, refusal) => {
      await using server = await ProviderServer.start(provider(refusal, refusal));
      const { model } = modelAt(server.port);
      for (const promptCacheKey of ['thread-1', 'thread-1', 'thread-2']) {
        const events = await collect(model.stream({ ...replayed, promptCacheKey }, never));
        const told = events.flatMap((event) =>
          event.type === 'leftOut' ? [event.message.slice(-LOSS.length)] : [],
        );
        expect([told, events.at(-1)?.type]).toEqual([[LOSS], 'completed']);
      }
      expect(server.requests.map(({ body }) => sentIn(body))).toEqual([
        [null, null],
        [],
        [],
        [null, null],
        [],
      ]);
    },
  );

  test.each(MISSING)('is left out if it is refused with its ids, too: %s', async (_, refusal) => {
    const [, notFound = {}] = UNUSABLE[1] ?? [];
    const wantsIds = provider(refusal, null);
    const reply: Reply = (res, req, body) =>
      (sentIn(body)[0] === 'rs_1' ? refusing(404, { error: notFound }) : wantsIds)(res, req, body);
    await using server = await ProviderServer.start(reply);
    const events = await collect(modelAt(server.port).model.stream(replayed, never));
    expect(events.at(-1)?.type).toBe('completed');
    expect(server.requests.map(({ body }) => sentIn(body))).toEqual([
      [null, null],
      ['rs_1', 'rs_2'],
      [],
    ]);
  });

  test.each([...MISSING, ...UNUSABLE])(
    'of which there is none is not asked about again: %s',
    async (_, refusal) => {
      await using server = await ProviderServer.start(refusing(400, { error: refusal }));
      const events = await collect(modelAt(server.port).model.stream(request, never));
      expect([events.at(-1)?.type, server.requests.length]).toEqual([
        'failed',
        /encrypted|reasoning/.test(JSON.stringify(refusal)) ? 2 : 1,
      ]);
    },
  );
});
