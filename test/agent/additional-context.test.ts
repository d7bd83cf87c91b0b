import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../src/model/model.ts';
import type { AdditionalContextEntry } from '../../src/protocol/generated/types.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { idOf } from '../support/counting-ids.ts';
import { Gate } from '../support/gate.ts';
import { gatedStore } from '../support/gated-store.ts';
import { type TestClient, text } from '../support/test-client.ts';
import {
  asked,
  functionCall,
  isForSummary,
  message,
  messageBegun,
  response,
  TestModel,
  USAGE,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

type Given = Record<string, AdditionalContextEntry>;

const threadId = idOf(1);
const ok = response(message('ok'));
const u = (value: string): AdditionalContextEntry => ({ kind: 'untrusted', value });
const a = (value: string): AdditionalContextEntry => ({ kind: 'application', value });

/** The entries that a request has, in its order: `role name=value`. */
function contextEntries({ input }: Pick<ModelRequest, 'input'>): string[] {
  return input.flatMap((item) => {
    const part = item.type === 'message' ? item.content[0] : undefined;
    const found = /^<context name="(.*)">\n([\s\S]*)\n<\/context>$/.exec(
      part !== undefined && 'text' in part ? part.text : '',
    );
    return found === null || item.type !== 'message'
      ? []
      : [`${item.role} ${found[1]}=${found[2]}`];
  });
}

const lastRequest = (model: TestModel) => model.request(model.requests.length);

async function withThread(
  responses = 1,
  options: Parameters<typeof startServer>[0] = {},
): Promise<TestServer> {
  const server = await startServer({
    model: new TestModel(...Array.from({ length: responses }, () => ok)),
    ...options,
  });
  await server.client.request('thread/start', {
    sandbox: 'danger-full-access',
    approvalPolicy: 'never',
  });
  return server;
}

async function compact(client: TestClient, of = threadId): Promise<void> {
  const ends = client.notifications('turn/completed').length;
  await client.request('thread/compact/start', { threadId: of });
  await client.next(
    'the end of the compaction',
    () => client.notifications('turn/completed').length > ends,
  );
}

describe('additionalContext', () => {
  test.each<[string, (Given | null | undefined)[], string[]]>([
    ['is told once', [{ k: u('1') }, { k: u('1') }], ['user k=1']],
    [
      'is told again for the keys whose value has changed',
      [
        { j: u('1'), k: u('1') },
        { j: u('1'), k: u('2') },
      ],
      ['user j=1', 'user k=1', 'user k=2'],
    ],
    [
      'is told again for a key whose kind has changed',
      [{ k: u('1') }, { k: a('1') }],
      ['user k=1', 'developer k=1'],
    ],
    [
      'is told again for a key that the turn before it did not give',
      [{ j: u('1'), k: u('1') }, { j: u('1') }, { j: u('1'), k: u('1') }],
      ['user j=1', 'user k=1', 'user k=1'],
    ],
    [
      'of a turn without any ends',
      [{ k: u('1') }, undefined, { k: u('1') }, null, { k: u('1') }, {}, { k: u('1') }],
      Array.from({ length: 4 }, () => 'user k=1'),
    ],
    [
      'is told in the order of its keys',
      [{ z: u('1'), b: a('2'), 10: u('3'), a: u('4') }],
      ['user 10=3', 'user a=4', 'developer b=2', 'user z=1'],
    ],
    [
      'can have odd keys and empty values',
      [
        JSON.parse(
          '{"__proto__":{"kind":"untrusted","value":""},"":{"kind":"untrusted","value":"x"}}',
        ),
      ],
      ['user =x', 'user __proto__='],
    ],
  ])('%s', async (_, turns, expected) => {
    const { client, model } = await withThread(turns.length);
    for (const additionalContext of turns)
      await client.turn(
        threadId,
        'go',
        additionalContext === undefined ? {} : { additionalContext },
      );
    expect(contextEntries(lastRequest(model))).toEqual(expected);
    expect(lastRequest(model).input.at(-1)).toEqual(asked('go'));
  });

  test('is no item, and a turn that has nothing else shows no message of the user', async () => {
    const { client, model } = await withThread(1);
    await client.turn(threadId, [], { additionalContext: { k: u('SECRET') } });
    expect(contextEntries(model.request(1))).toEqual(['user k=SECRET']);
    const { thread } = await client.request('thread/read', { threadId, includeTurns: true });
    expect(thread.turns.map(({ items }) => items.map(({ type }) => type))).toEqual([
      ['agentMessage'],
    ]);
    expect(JSON.stringify(client.messages)).not.toContain('SECRET');
  });

  test('loses the middle of values and keys beyond 4,000 bytes; values that differ only there are the same', async () => {
    const { client, model } = await withThread(2);
    const long = (middle: string) => ({
      k: u('a'.repeat(30_000) + middle + 'z'.repeat(30_000)),
      ['n'.repeat(60_000)]: u('named'),
    });
    await client.turn(threadId, 'go', { additionalContext: long('X') });
    await client.turn(threadId, 'go', { additionalContext: long('Y') });
    const cut = (start: string, end: string, tokens: number) =>
      `${start.repeat(2_000)}…${tokens} tokens truncated…${end.repeat(2_000)}`;
    expect(contextEntries(model.request(2))).toEqual([
      `user k=${cut('a', 'z', 14_001)}`,
      `user ${cut('n', 'n', 14_000)}=named`,
    ]);
  });

  test('may have 100 entries in one request', async () => {
    const { client, model } = await withThread(1);
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, u('1')]));
    const refusal = {
      code: -32600,
      message: 'params.additionalContext must have at most 100 entries: it has 101',
      data: { code: 'invalid_params' },
    };
    expect(
      await client.refusal('turn/start', {
        threadId,
        input: text('go'),
        additionalContext: entries(101),
      }),
    ).toEqual(refusal);
    await client.turn(threadId, 'go', { additionalContext: entries(100) });
    expect(contextEntries(model.request(1))).toHaveLength(100);
  });

  test('of turn/steer, and of a turn/start that joins, is compared with what the turn was told so far', async () => {
    const gate = new Gate();
    const { client, model } = await withThread(0);
    model.push(response(messageBegun('par'), [gate]), ok, ok, ok, ok, ok);
    const { turn } = await client.request('turn/start', {
      threadId,
      input: text('go'),
      additionalContext: { j: a('1'), k: u('1') },
    });
    await client.waitFor('item/agentMessage/delta');
    const join = (additionalContext?: Given) => ({
      threadId,
      input: text('more'),
      ...(additionalContext && { additionalContext }),
    });
    const ended = client.turnCompleted(turn.id);
    const steer = (additionalContext?: Given) =>
      client.call('turn/steer', { ...join(additionalContext), expectedTurnId: turn.id });
    // In one line of requests: the turn cannot end between them.
    await Promise.all([
      steer({ j: a('1'), k: u('1') }),
      steer({ k: u('2') }),
      client.call('turn/start', join({ k: u('2'), l: u('1') })),
      steer(),
      steer({ k: u('2') }),
    ]);
    await ended;
    expect(contextEntries(lastRequest(model))).toEqual([
      'developer j=1',
      'user k=1',
      'user k=2',
      'user l=1',
      'user k=2',
    ]);
  });

  test('that could not be stored is told by the next request', async () => {
    const gate = new Gate();
    let isFull = false;
    const { client, model } = await withThread(0, {
      wrapStore: (store) =>
        gatedStore(store, ({ entries }) => {
          if (isFull && entries.some((each) => each.kind === 'model'))
            throw new StoreError('store_full', 'the disk is full');
        }),
    });
    model.push(response(messageBegun('par'), [gate]), ok);
    const { turn } = await client.request('turn/start', { threadId, input: text('go') });
    await client.waitFor('item/agentMessage/delta');
    const steer = {
      threadId,
      input: text('more'),
      expectedTurnId: turn.id,
      additionalContext: { k: u('1') },
    };
    const ended = client.turnCompleted(turn.id);
    isFull = true;
    expect((await client.refusal('turn/steer', steer)).message).toContain('the disk is full');
    isFull = false;
    await ended;
    model.push(ok);
    await client.turn(threadId, 'next', { additionalContext: { k: u('1') } });
    expect(contextEntries(lastRequest(model))).toEqual(['user k=1']);
  });

  test('is not told again after a restart and in a fork of the whole thread; it is in a fork of a part, and after a revert', async () => {
    const { client, model, restart } = await withThread(9);
    const additionalContext = { k: u('1') };
    const { id } = await client.turn(threadId, 'one', { additionalContext });
    const again = await restart();
    await again.client.request('thread/resume', { threadId });
    await again.client.turn(threadId, 'two', { additionalContext });
    const fork = await again.client.request('thread/fork', { threadId });
    await again.client.turn(fork.thread.id, 'three', { additionalContext });
    expect(contextEntries(model.request(3))).toEqual(['user k=1']);
    const part = await again.client.request('thread/fork', { threadId, lastTurnId: id });
    await again.client.turn(part.thread.id, 'three', { additionalContext });
    expect(contextEntries(model.request(4))).toEqual(['user k=1', 'user k=1']);
    await again.client.request('thread/revert', { threadId, beforeTurnId: id });
    await again.client.turn(threadId, 'one', { additionalContext });
    expect(contextEntries(model.request(5))).toEqual(['user k=1']);
  });
});

describe('a compaction', () => {
  test('keeps the context that was added last, once, and no other', async () => {
    const { client, model } = await withThread(0);
    model.push(ok, ok, response(message('SUMMARY')), ok, response(message('SUMMARY')), ok);
    await client.turn(threadId, 'one', { additionalContext: { j: u('1'), k: u('1') } });
    await client.turn(threadId, 'two', { additionalContext: { j: u('1'), k: u('2') } });
    await compact(client);
    await client.turn(threadId, 'three', { additionalContext: { j: u('1'), k: u('2') } });
    expect(contextEntries(model.request(4))).toEqual(['user j=1', 'user k=2']);
    await compact(client);
    await client.turn(threadId, 'four', { additionalContext: { k: u('3') } });
    expect(contextEntries(model.request(6))).toEqual(['user j=1', 'user k=2', 'user k=3']);
  });

  test('in the middle of a turn keeps that of this turn', async () => {
    const keys = 'model_auto_compact_token_limit = 5000';
    const config = `model = "m"\nmodel_provider = "test"\n${keys}\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n`;
    const { client, model } = await withThread(0, { config });
    const usage = { ...USAGE, inputTokens: 6_000, totalTokens: 6_005 };
    model.push(
      [
        ...functionCall('exec_command', { cmd: 'true', login: false }),
        { type: 'completed', usage },
      ],
      response(message('SUMMARY')),
      ok,
      ok,
    );
    await client.turn(threadId, 'one', { additionalContext: { k: a('1') } });
    expect(isForSummary(model.request(2))).toBe(true);
    expect(contextEntries(model.request(3))).toEqual(['developer k=1']);
    await client.turn(threadId, 'two', { additionalContext: { k: a('1') } });
    expect(contextEntries(model.request(4))).toEqual(['developer k=1']);
  });

  test('leaves it out if it is too long, and the next turn tells it again', async () => {
    const { client, model } = await withThread(0);
    model.push(ok, response(message('SUMMARY')), ok, ok);
    const additionalContext = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`k${index}`, u('x'.repeat(4_000))]),
    );
    await client.turn(threadId, 'one', { additionalContext });
    await compact(client);
    await client.turn(threadId, 'two', {
      additionalContext: { k1: additionalContext.k1 ?? u('') },
    });
    expect(contextEntries(model.request(3))).toHaveLength(1);
    await client.turn(threadId, 'three', { additionalContext });
    expect(contextEntries(model.request(4))).toHaveLength(50);
  });
});

interface Step {
  do: 'turn' | 'restart' | 'fork' | 'compact' | 'revert';
  given?: Given | undefined;
}

/** A thread whose steps are played, and what its model should have been told. */
class Played {
  #server: TestServer;
  readonly #model: TestModel;
  #threadId = threadId;
  #turnIds: string[] = [];
  /** The entries that the last turn gave, and those that the prompt has. */
  #last: string[] = [];
  #prompt: string[] = [];

  constructor(server: TestServer) {
    this.#server = server;
    this.#model = server.model;
  }

  async play(step: Step): Promise<void> {
    const { client } = this.#server;
    if (step.do === 'turn') return this.#turn(step.given);
    if (step.do === 'restart') {
      this.#server = await this.#server.restart();
      await this.#server.client.request('thread/resume', { threadId: this.#threadId });
    } else if (step.do === 'fork') {
      this.#threadId = (
        await client.request('thread/fork', { threadId: this.#threadId })
      ).thread.id;
    } else if (step.do === 'compact') {
      await compact(client, this.#threadId);
      this.#prompt = this.#prompt.filter(
        (each, index, all) => this.#last.includes(each) && all.lastIndexOf(each) === index,
      );
    } else {
      await client.request('thread/revert', {
        threadId: this.#threadId,
        beforeTurnId: this.#turnIds[0] ?? '',
      });
      [this.#turnIds, this.#last, this.#prompt] = [[], [], []];
    }
  }

  async #turn(given: Given | undefined): Promise<void> {
    const { id } = await this.#server.client.turn(
      this.#threadId,
      'go',
      given === undefined ? {} : { additionalContext: given },
    );
    const entries = Object.entries(given ?? {}).map(([key, { kind, value }]) => [
      key,
      kind === 'application' ? 'developer' : 'user',
      value,
    ]);
    const now = entries
      .sort(([one = ''], [two = '']) => (one < two ? -1 : 1))
      .map(([key, role, value]) => `${role} ${key}=${value}`);
    this.#prompt.push(...now.filter((each) => !this.#last.includes(each)));
    this.#last = now;
    this.#turnIds.push(id);
    expect(contextEntries(lastRequest(this.#model))).toEqual(this.#prompt);
  }
}

test('in any order of turns, restarts, forks, compactions and reverts, the model knows what was given last, and reads nothing twice', async () => {
  const entry = fc.record({
    kind: fc.constantFrom('untrusted' as const, 'application' as const),
    value: fc.constantFrom('1', '2'),
  });
  const given = fc.option(fc.dictionary(fc.constantFrom('j', 'k'), entry), { nil: undefined });
  const turn = fc.record({ do: fc.constant('turn' as const), given });
  const other = fc.record({
    do: fc.constantFrom('restart' as const, 'fork' as const, 'compact' as const),
  });
  const revert = fc.constant<Step>({ do: 'revert' });
  const some = fc.array(fc.oneof<fc.Arbitrary<Step>[]>(turn, turn, other), {
    minLength: 6,
    maxLength: 6,
  });
  const steps = fc
    .tuple(turn, some, fc.option(revert), turn, some)
    .map((all) => all.flat().filter((each) => each !== null));
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const played = new Played(await withThread(2 * all.length));
      for (const step of all) await played.play(step);
    }),
    { numRuns: 6 },
  );
}, 60_000);
