import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../../src/model/model.ts';
import type { ThreadItem } from '../../../src/protocol/generated/types.ts';
import type { LogEntry } from '../../../src/store/log-entry.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { idOf } from '../../support/counting-ids.ts';
import { agentItem, brief } from '../../support/expected.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { runs } from '../../support/runs.ts';
import { idle, taken } from '../../support/settled.ts';
import { type Message, type TestClient, text } from '../../support/test-client.ts';
import { asked, conversation, failed, message, response } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

/** A thread whose store waits at the gate before it writes entries of this kind, the first time. */
async function waitingAt(gate: Gate, isMeant: (entry: LogEntry) => boolean): Promise<TestServer> {
  let waited = false;
  const server = await startServer({
    wrapStore: (store) =>
      gatedStore(store, async ({ entries }) => {
        if (waited || !entries.some(isMeant)) return;
        waited = true;
        await gate.pass();
      }),
  });
  await server.client.request('thread/start', {});
  return server;
}

async function turnsOf({ client }: TestServer) {
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  return thread.turns.map(({ status, items }) => [status, brief(items)]);
}

describe('while the end of a turn is being written', () => {
  test('turn/steer is refused, since the turn takes no more input', async () => {
    const gate = new Gate();
    const server = await waitingAt(gate, ({ kind }) => kind === 'turnEnded');
    server.model.push(response(message('first')));
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await gate.reached;
    expect(
      await server.client.refusal('turn/steer', {
        threadId: idOf(1),
        expectedTurnId: turn.id,
        input: text('lost?'),
      }),
    ).toEqual({
      code: -32600,
      message: 'no active turn to steer',
      data: { code: 'turn_not_active' },
    });
    gate.open();
    await server.client.turnCompleted(turn.id);
    expect(await turnsOf(server)).toEqual([['completed', ['user: one', 'agent: first']]]);
  });

  test('turn/start waits for it, and begins a new turn', async () => {
    const gate = new Gate();
    const server = await waitingAt(gate, ({ kind }) => kind === 'turnEnded');
    server.model.push(response(message('first')), response(message('second')));
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await gate.reached;
    const second = server.client.turn(idOf(1), 'two');
    gate.open();
    expect(await second).toMatchObject({ status: 'completed', items: [agentItem('second')] });
    expect((await second).id).not.toBe(turn.id);
    expect(await turnsOf(server)).toEqual([
      ['completed', ['user: one', 'agent: first']],
      ['completed', ['user: two', 'agent: second']],
    ]);
    const order = server.client.messages.flatMap(({ method, result }) => {
      if (method === 'turn/completed') return 'completed';
      return result !== undefined && JSON.stringify(result).startsWith('{"turn":')
        ? 'answered'
        : [];
    });
    expect(order).toEqual(['answered', 'completed', 'answered', 'completed']);
  });

  test('turn/interrupt is refused, and the turn stays completed', async () => {
    const gate = new Gate();
    const server = await waitingAt(gate, ({ kind }) => kind === 'turnEnded');
    server.model.push(response(message('first')));
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await gate.reached;
    expect(
      await server.client.refusal('turn/interrupt', { threadId: idOf(1), turnId: turn.id }),
    ).toMatchObject({
      code: -32600,
      data: { code: 'turn_not_active' },
    });
    gate.open();
    expect((await server.client.turnCompleted(turn.id)).status).toBe('completed');
  });
});

describe('while input that joins a turn is being written', () => {
  const isSecondInput = (entry: LogEntry) =>
    entry.kind === 'item' && brief([entry.item])[0] === 'user: two';

  test.each(['turn/steer', 'turn/start'] as const)(
    'the turn does not end without it: %s',
    async (method) => {
      const written = new Gate();
      const answering = new Gate();
      const server = await waitingAt(written, isSecondInput);
      server.model.push(response([answering], message('first')), response(message('second')));
      const { turn } = await server.client.request('turn/start', {
        threadId: idOf(1),
        input: text('one'),
      });
      await answering.reached;
      const joined = server.client.call(method, {
        threadId: idOf(1),
        expectedTurnId: turn.id,
        input: text('two'),
      });
      await written.reached;
      answering.open();
      await taken(server.client);
      expect(server.client.notifications('turn/completed')).toEqual([]);
      written.open();
      expect(JSON.stringify(await joined)).toContain(turn.id);
      expect(await server.client.turnCompleted(turn.id)).toMatchObject({
        status: 'completed',
        items: [agentItem('second')],
      });
      expect(
        conversation(server.model.request(2)).filter(
          (item) => 'role' in item && item.role === 'user',
        ),
      ).toEqual([asked('one'), asked('two')]);
    },
  );

  test('an interrupt does not wait for it', async () => {
    const written = new Gate();
    const server = await waitingAt(written, isSecondInput);
    server.model.push(response([new Gate()]));
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await server.model.asked(1);
    const joined = server.client.request('turn/steer', {
      threadId: idOf(1),
      expectedTurnId: turn.id,
      input: text('two'),
    });
    await written.reached;
    expect(
      await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id }),
    ).toEqual({});
    written.open();
    expect(await joined).toEqual({ turnId: turn.id });
    expect((await server.client.turnCompleted(turn.id)).status).toBe('interrupted');
    expect(await turnsOf(server)).toEqual([['interrupted', ['user: one', 'user: two']]]);
  });

  test('a turn that fails meanwhile shows the input before it ends', async () => {
    const written = new Gate();
    const answering = new Gate();
    const server = await waitingAt(written, isSecondInput);
    server.model.push(response([answering, failed('no more')]));
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await answering.reached;
    const joined = server.client.request('turn/steer', {
      threadId: idOf(1),
      expectedTurnId: turn.id,
      input: text('two'),
    });
    await written.reached;
    answering.open();
    await taken(server.client);
    written.open();
    expect(await joined).toEqual({ turnId: turn.id });
    expect((await server.client.turnCompleted(turn.id)).status).toBe('failed');
    expect(brief(server.client.notifications('item/completed').map(({ item }) => item))).toEqual([
      'user: one',
      'user: two',
    ]);
    expect(await turnsOf(server)).toEqual([['failed', ['user: one', 'user: two']]]);
  });

  test('if the write fails, the input is refused, and the turn goes on without it', async () => {
    const answering = new Gate();
    const server = await startServer({
      wrapStore: (store) =>
        gatedStore(store, ({ entries }) => {
          if (entries.some(isSecondInput)) throw new StoreError('store_full', 'the disk is full');
        }),
    });
    await server.client.request('thread/start', {});
    // The response so far is dropped for the input. The model is asked again, without the input.
    server.model.push(response([answering], message('given up')), response(message('first')));
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('one'),
    });
    await answering.reached;
    const steer = { threadId: idOf(1), expectedTurnId: turn.id, input: text('two') };
    expect(await server.client.refusal('turn/steer', steer)).toEqual({
      code: -32603,
      message: 'the disk is full',
      data: { code: 'store_full' },
    });
    answering.open();
    expect(await server.client.turnCompleted(turn.id)).toMatchObject({
      status: 'completed',
      items: [agentItem('first')],
    });
    expect(await turnsOf(server)).toEqual([['completed', ['user: one', 'agent: first']]]);
  });
});

describe('while the history is read for the first request', () => {
  async function resumedReading(gate: Gate): Promise<TestServer> {
    const first = await startServer();
    first.model.push(response(message('first')));
    await first.client.request('thread/start', {});
    await first.client.turn(idOf(1), 'one');
    const server = await first.restart({
      wrapStore: (store) => {
        const readModelEntries = store.readModelEntries.bind(store);
        store.readModelEntries = async (threadId, query) => {
          await gate.pass();
          return readModelEntries(threadId, query);
        };
        return store;
      },
    });
    await server.client.request('thread/resume', { threadId: idOf(1) });
    return server;
  }

  test('an interrupt ends the turn, even if the model would never answer', async () => {
    const gate = new Gate();
    const server = await resumedReading(gate);
    server.model.push([new Gate()]);
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('two'),
    });
    await gate.reached;
    await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
    gate.open();
    expect((await server.client.turnCompleted(turn.id)).status).toBe('interrupted');
  });

  test('new input reaches the model, and is shown before the answer to it', async () => {
    const gate = new Gate();
    const server = await resumedReading(gate);
    server.model.push(response(message('to both')), response(message('to both')));
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('two'),
    });
    await gate.reached;
    await server.client.request('turn/steer', {
      threadId: idOf(1),
      expectedTurnId: turn.id,
      input: text('three'),
    });
    gate.open();
    await server.client.turnCompleted(turn.id);
    expect(await turnsOf(server)).toEqual([
      ['completed', ['user: one', 'agent: first']],
      ['completed', ['user: two', 'user: three', 'agent: to both']],
    ]);
    const shown = server.client.notifications('item/completed').map(({ item }) => item);
    expect(brief(shown)).toEqual(['user: two', 'user: three', 'agent: to both']);
  });
});

/** A request that a client sends after a number of messages or of rounds of the event loop. */
interface Move {
  method: 'turn/start' | 'turn/steer' | 'turn/interrupt';
  afterMessages: number;
  rounds: number;
}

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.record({
    method: fc.constantFrom(
      'turn/start',
      'turn/start',
      'turn/steer',
      'turn/steer',
      'turn/interrupt',
    ),
    afterMessages: fc.nat(14),
    rounds: fc.nat(3),
  }),
  { minLength: 1, maxLength: 5 },
);

/**
 * How many rounds of the event loop pass before each event of a response; -1: not even a promise.
 */
const paces = fc.array(fc.integer({ min: -1, max: 3 }), { minLength: 4, maxLength: 4 });

describe('at any timing of requests', () => {
  test('every accepted input is in the turn of its response and reaches the model, and every turn ends once', {
    tags: 'seeded',
  }, async () => {
    const server = await startServer();
    await fc.assert(
      fc.asyncProperty(moves, paces, async (plan, pace) => {
        const { thread } = await server.client.request('thread/start', {});
        const asked = server.model.requests.length;
        server.model.push(
          ...Array.from(
            { length: 12 },
            () => () => paced([...response(message('ok'))] as ModelEvent[], pace),
          ),
        );
        const answers = await play(server.client, thread.id, plan);
        await idle(server.client, thread.id);
        const turns = await server.client.request('thread/read', {
          threadId: thread.id,
          includeTurns: true,
        });
        const requests = server.model.requests
          .slice(asked)
          .map((request) => JSON.stringify(request.input));
        server.model.clear();
        checkTaken(answers, turns.thread.turns, requests);
        for (const { id, items } of turns.thread.turns) {
          const shown = server.client
            .notifications('item/completed', ({ turnId }) => turnId === id)
            .map(({ item }) => item);
          expect(shown.filter(isUsers)).toEqual(items.filter(isUsers));
          await server.client.turnCompleted(id);
          const told = (method: 'turn/started' | 'turn/completed') =>
            server.client.notifications(method, ({ turn }) => turn.id === id).length;
          expect([id, told('turn/started'), told('turn/completed')]).toEqual([id, 1, 1]);
        }
      }),
      { numRuns: runs(80) },
    );
  });
});

function isUsers({ type }: ThreadItem): boolean {
  return type === 'userMessage';
}

interface Played {
  said: string;
  method: string;
  answer: Message;
}

/** Starts a turn and makes the moves. Returns all responses. */
async function play(client: TestClient, threadId: string, plan: Move[]): Promise<Played[]> {
  const said = `said first in ${threadId}`;
  const first = client.ask('turn/start', { threadId, input: text(said) });
  const { result } = await first;
  const { id: turnId } = (result as { turn: { id: string } }).turn;
  const begun = client.messages.length;
  const played = plan.map(async ({ method, afterMessages, rounds }, index): Promise<Played> => {
    await client.count(begun + afterMessages, () => isOver(client, turnId));
    for (let round = 0; round < rounds; round++)
      await new Promise((resolve) => setImmediate(resolve));
    const text = `said ${index} in ${threadId}`;
    const params = { threadId, turnId, expectedTurnId: turnId, input: [{ type: 'text', text }] };
    return { said: text, method, answer: await client.ask(method, params) };
  });
  return [{ said, method: 'turn/start', answer: await first }, ...(await Promise.all(played))];
}

function isOver(client: TestClient, turnId: string): boolean {
  return client.notifications('turn/completed', ({ turn }) => turn.id === turnId).length > 0;
}

function checkTaken(
  played: Played[],
  turns: { id: string; status: string; items: Parameters<typeof brief>[0] }[],
  requests: string[],
): void {
  for (const { said, method, answer } of played) {
    if (method === 'turn/interrupt') continue;
    const holders = turns.filter(({ items }) => brief(items).includes(`user: ${said}`));
    const result = answer.result as { turn?: { id: string }; turnId?: string } | undefined;
    const id = result?.turn?.id ?? result?.turnId;
    expect([said, holders.map((turn) => turn.id)]).toEqual([said, id === undefined ? [] : [id]]);
    const wasRead = requests.some((request) => request.includes(`"${said}"`));
    if (holders[0]?.status === 'completed') expect([said, wasRead]).toEqual([said, true]);
  }
}

async function* paced(
  events: ModelEvent[],
  pace: number[],
): AsyncGenerator<ModelEvent, void, undefined> {
  for (const [index, event] of events.entries()) {
    const rounds = pace[index % pace.length] ?? 0;
    if (rounds === 0) await Promise.resolve();
    for (let round = 0; round < rounds; round++)
      await new Promise((resolve) => setImmediate(resolve));
    yield event;
  }
}
