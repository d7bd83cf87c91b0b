// @module-tag slow
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { RequestError } from '../../src/client/request-error.ts';
import type { ThreadItem } from '../../src/protocol/generated/types.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { idOf } from '../support/counting-ids.ts';
import { agentItem, brief, userItem } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { gatedStore } from '../support/gated-store.ts';
import { text } from '../support/test-client.ts';
import {
  asked,
  conversation,
  errorOf,
  functionCall,
  message,
  messageBegun,
  reasoning,
  response,
  type ScriptedResponse,
  type Step,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { commandServer, completed, done, runs, THREAD } from '../tools/command-server.ts';
import { afterDeathOf } from './after-death-of.ts';

const FULL = 'the disk is full: free some space';

interface Disk {
  /** Writes are counted from 1, since the thread was started. */
  writes: number;
  isFull: (write: number) => boolean;
}

/** A server whose store fails whenever the disk is full. */
async function withDisk(model: TestModel): Promise<TestServer & { disk: Disk }> {
  const disk: Disk = { writes: 0, isFull: () => false };
  const server = await startServer({
    model,
    wrapStore: (store) =>
      gatedStore(store, () => {
        disk.writes++;
        if (disk.isFull(disk.writes))
          throw new StoreError('store_full', FULL, { file: 'heddle.db' });
      }),
  });
  await server.client.request('thread/start', {});
  disk.writes = 0;
  return { ...server, disk };
}

function workingTurn(paced: (steps: readonly Step[]) => ScriptedResponse): TestModel {
  return new TestModel(
    paced(
      response(reasoning('because'), message('on it'), functionCall('update_plan', { plan: [] })),
    ),
    paced(response(message('done', { id: 'msg_2' }))),
  );
}

/** A response whose events come one by one: each is stored before the next one comes. */
function oneByOne(steps: readonly Step[]): ScriptedResponse {
  return async function* () {
    for (const step of steps) {
      for (let round = 0; round < ROUNDS_OF_A_WRITE; round++) await setImmediate();
      if (!(step instanceof Gate)) yield step;
    }
  };
}
const ROUNDS_OF_A_WRITE = 10;

/** How the events of that turn come, and the number of its writes. */
const PACES = [
  { pace: 'at once', paced: (steps: readonly Step[]) => steps, writes: 4 },
  { pace: 'one by one', paced: oneByOne, writes: 11 },
];

async function readTurns({ client }: Pick<TestServer, 'client'>) {
  const { thread } = await client.request('thread/read', { threadId: idOf(1), includeTurns: true });
  return thread.turns;
}

/** The items that clients have seen completed in a turn. */
function completedIn({ client }: TestServer, id: string): ThreadItem[] {
  return client
    .notifications('item/completed', ({ turnId }) => turnId === id)
    .map(({ item }) => item);
}

describe('a store that fails when a turn begins', () => {
  test('makes turn/start fail with its message; no turn begins until the store works again', async () => {
    const server = await withDisk(new TestModel(response(message('ok'))));
    server.disk.isFull = () => true;
    const refusal = await server.client.refusal('turn/start', {
      threadId: idOf(1),
      input: text('one'),
      model: 'other',
    });
    expect(refusal).toEqual({
      code: -32603,
      message: FULL,
      data: { code: 'store_full', file: 'heddle.db' },
    });
    expect(
      (await server.client.request('thread/read', { threadId: idOf(1) })).thread,
    ).toMatchObject({
      status: { type: 'idle' },
      preview: '',
      model: 'test-model',
    });
    server.disk.isFull = () => false;
    expect(await server.client.turn(idOf(1), 'two')).toMatchObject({
      status: 'completed',
      items: [agentItem('ok')],
    });
    expect(conversation(server.model.request(1))).toEqual([asked('two')]);
    expect(server.client.notifications('turn/started')).toHaveLength(1);
  });
});

describe.each(PACES)(
  'a store that fails during a turn whose events come $pace',
  ({ paced, writes }) => {
    const from = Array.from({ length: writes - 1 }, (_, index) => index + 2);

    test('the tests below cover every write of a turn', async () => {
      const server = await withDisk(workingTurn(paced));
      await server.client.turn(idOf(1), 'one');
      expect(server.disk.writes).toBe(writes);
    });

    test.each(from)(
      'from write %i on: the turn fails with the message, clients miss nothing, and all is stored when the store works again',
      async (first) => {
        const server = await withDisk(workingTurn(paced));
        server.disk.isFull = (write) => write >= first;
        const turn = await server.client.turn(idOf(1), 'one');
        expect([turn.status, turn.error]).toEqual(['failed', errorOf(FULL)]);
        expect(server.client.notifications('turn/completed')).toHaveLength(1);
        const seen = completedIn(server, turn.id);
        expect(await readTurns(server)).toMatchObject([
          { id: turn.id, status: 'failed', error: errorOf(FULL) },
        ]);

        server.disk.isFull = () => false;
        server.model.clear();
        server.model.push(response(message('works again')));
        expect(await server.client.turn(idOf(1), 'two')).toMatchObject({
          status: 'completed',
          items: [agentItem('works again')],
        });
        const turns = await readTurns(server);
        expect(turns.map(({ status, error }) => [status, error])).toEqual([
          ['failed', errorOf(FULL)],
          ['completed', null],
        ]);
        expect(turns[0]?.items.filter(({ id }) => seen.some((item) => item.id === id))).toEqual(
          seen,
        );

        const { client } = await server.restart();
        expect(await readTurns({ client })).toEqual(turns);
      },
    );

    test.each(from)(
      'at write %i only: the turn ends once, and the store has what was announced',
      async (only) => {
        const server = await withDisk(workingTurn(paced));
        server.disk.isFull = (write) => write === only;
        const turn = await server.client.turn(idOf(1), 'one');
        expect(turn.status === 'completed' ? null : turn.error).toEqual(
          turn.status === 'completed' ? null : errorOf(FULL),
        );
        const seen = completedIn(server, turn.id);
        const check = async (client: TestServer['client']) => {
          const [read] = await readTurns({ client });
          expect([read?.status, read?.error]).toEqual([turn.status, turn.error]);
          expect(read?.items.filter(({ id }) => seen.some((item) => item.id === id))).toEqual(seen);
        };
        await check(server.client);
        await check((await server.restart()).client);
      },
    );
  },
);

test('a message that the failure cut off is shown with its text so far, also after the next turn and a restart', async () => {
  const server = await withDisk(
    new TestModel(oneByOne([...messageBegun('par'), ...message('whole', { id: 'm2' })])),
  );
  // The beginning of the second message.
  server.disk.isFull = (write) => write >= 3;
  const turn = await server.client.turn(idOf(1), 'one');
  expect(turn).toMatchObject({ status: 'failed', error: errorOf(FULL) });
  server.disk.isFull = () => false;
  server.model.push(response(message('again')));
  await server.client.turn(idOf(1), 'two');
  const expected = [userItem('one'), agentItem('par')];
  expect((await readTurns(server))[0]?.items.slice(0, 2)).toEqual(expected);
  const { client } = await server.restart();
  expect((await readTurns({ client }))[0]?.items.slice(0, 2)).toEqual(expected);
});

test('the turn fails at once if the beginning of an item cannot be stored, even if the model says nothing more', async () => {
  const server = await withDisk(new TestModel([...messageBegun('par'), new Gate()]));
  server.disk.isFull = (write) => write === 2;
  expect(await server.client.turn(idOf(1), 'one')).toMatchObject({
    status: 'failed',
    error: errorOf(FULL),
  });
  expect(server.client.notifications('item/agentMessage/delta')).toEqual([]);
});

test('an interrupt while the store fails ends the turn, and the end is announced', async () => {
  const server = await withDisk(new TestModel(response(messageBegun('par'), [new Gate()])));
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('one'),
  });
  await server.client.waitFor('item/agentMessage/delta');
  server.disk.isFull = () => true;
  await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
  expect((await server.client.turnCompleted(turn.id)).status).toBe('failed');
  server.disk.isFull = () => false;
  server.model.push(response(message('again')));
  expect((await server.client.turn(idOf(1), 'two')).status).toBe('completed');
  expect((await readTurns(server)).map(({ items }) => brief(items))).toEqual([
    ['user: one', 'agent: par'],
    ['user: two', 'agent: again'],
  ]);
});

test('an end of a turn that could not be stored is stored when the server closes', async () => {
  const server = await withDisk(
    new TestModel(oneByOne([...messageBegun('par'), ...message('whole', { id: 'm2' })])),
  );
  server.disk.isFull = (write) => write >= 3;
  const turn = await server.client.turn(idOf(1), 'one');
  server.disk.isFull = () => false;
  const { client } = await server.restart();
  expect(await readTurns({ client })).toMatchObject([
    { id: turn.id, status: 'failed', error: errorOf(FULL) },
  ]);
});

test('requests that write fail with the message, requests that read are answered', async () => {
  const server = await withDisk(new TestModel(response(message('ok'))));
  await server.client.turn(idOf(1), 'one');
  server.disk.isFull = () => true;
  const { client } = server;
  await expect(client.request('thread/name/set', { threadId: idOf(1), name: 'x' })).rejects.toThrow(
    RequestError,
  );
  expect(
    await client.refusal('thread/resume', { threadId: idOf(1), model: 'other' }),
  ).toMatchObject({ code: -32603, message: FULL });
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread).toMatchObject({
    name: null,
    model: 'test-model',
  });
  expect(client.notifications('thread/name/updated')).toEqual([]);
});

test('if the end of a command cannot be stored yet, clients read that it is completed only later, when it is stored', async () => {
  let full = true;
  const server = await commandServer(
    [runs('echo ran'), done, response(message('ok', { id: 'msg_2' }))],
    {
      wrapStore: (store) =>
        gatedStore(store, ({ entries }) => {
          if (
            full &&
            entries.some((entry) => entry.kind === 'item' && entry.item.type === 'commandExecution')
          ) {
            throw new StoreError('store_full', FULL);
          }
        }),
    },
  );
  expect(await server.client.turn(THREAD, 'one')).toMatchObject({
    status: 'failed',
    error: errorOf(FULL),
  });
  expect(completed(server)).toEqual([]);
  expect((await readTurns(await afterDeathOf(server)))[0]).toMatchObject({
    status: 'interrupted',
    items: [{}, { status: 'failed' }],
  });
  // This process knows how the command ended.
  expect((await readTurns(server))[0]).toMatchObject({
    status: 'failed',
    items: [{}, { status: 'completed', exitCode: 0 }],
  });
  full = false;
  await server.client.turn(THREAD, 'two');
  expect(completed(server)).toMatchObject([{ status: 'completed', exitCode: 0 }]);
  for (const { client } of [server, await afterDeathOf(server)]) {
    expect((await readTurns({ client }))[0]).toMatchObject({
      status: 'failed',
      items: [{}, { status: 'completed', exitCode: 0 }],
    });
  }
});

test('if the flush of the end of a turn fails, the end is stored without it, and after a kill the turn has the announced status', async () => {
  let fails = true;
  const server = await startServer({
    model: new TestModel(response(message('ok'))),
    wrapStore: (store) =>
      gatedStore(store, ({ durable }) => {
        if (durable && fails) throw new StoreError('store_failed', 'the disk cannot be flushed');
      }),
  });
  await server.client.request('thread/start', {});
  const turn = await server.client.turn(idOf(1), 'one');
  expect([turn.status, turn.error]).toEqual(['failed', errorOf('the disk cannot be flushed')]);
  const { id, status, error } = turn;
  expect(await readTurns(await afterDeathOf(server))).toMatchObject([{ id, status, error }]);
  fails = false;
});

test('a message whose completion cannot be stored is shown with its text so far, when the store works again', async () => {
  const server = await startServer({
    model: new TestModel(
      response(message('Hello big world')),
      response(message('ok', { id: 'msg_2' })),
    ),
    wrapStore: (store) =>
      gatedStore(store, ({ entries }) => {
        if (
          entries.some(
            (entry) =>
              entry.kind === 'item' &&
              entry.item.type === 'agentMessage' &&
              entry.partial !== true &&
              !over,
          )
        ) {
          throw new StoreError('store_full', FULL);
        }
      }),
  });
  let over = false;
  await server.client.request('thread/start', {});
  expect((await server.client.turn(idOf(1), 'one')).status).toBe('failed');
  over = true;
  expect((await readTurns(server)).map(({ status, items }) => [status, brief(items)])).toEqual([
    ['failed', ['user: one', 'agent: Hello big world']],
  ]);
  await server.client.turn(idOf(1), 'two');
  expect((await readTurns(server)).map(({ status, items }) => [status, brief(items)])).toEqual([
    ['failed', ['user: one', 'agent: Hello big world']],
    ['completed', ['user: two', 'agent: ok']],
  ]);
});
