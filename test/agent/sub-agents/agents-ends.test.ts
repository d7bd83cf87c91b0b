import { expect, test } from 'vitest';
import { StoreError } from '../../../src/store/store-error.ts';
import type { ThreadStore } from '../../../src/store/thread-store.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { AgentsModel, agentOf, outputs } from './agents-model.ts';
import {
  type AgentsServer,
  agentIds,
  configWith,
  done,
  ROOT,
  spawn,
  turnsCompleted,
  wait,
  withAgents,
} from './agents-server.ts';

type Failing = 'archiveThread' | 'unarchiveThread' | 'updateThread' | 'leftAgents';

/** A store whose method rejects while `fails` returns true for its first argument. */
function failingStore(
  method: Failing,
  fails: (threadId: string) => boolean,
): (store: ThreadStore) => ThreadStore {
  const full = () =>
    Promise.reject(new StoreError('store_full', 'the disk is full', { file: 'heddle.db' }));
  return (store) =>
    new Proxy(store, {
      get(target, key) {
        const value = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          key === method && fails(String(args[0])) ? full() : value.apply(target, args);
      },
    });
}

const isGone = (
  server: AgentsServer,
  method: 'thread/archived' | 'thread/unarchived' | 'thread/closed',
) => server.client.notifications(method).map(({ threadId }) => threadId);

test('an archive that fails at the thread itself announces the agents that are archived', async () => {
  let isFull = false;
  const wrapStore = failingStore('archiveThread', (id) => isFull && id === ROOT);
  const server = await withAgents(
    { root: [spawn({ message: 'child: a' }), done], child: [done] },
    { wrapStore },
  );
  await server.client.turn(ROOT, 'root: go');
  await turnsCompleted(server, 2);
  isFull = true;
  expect((await server.client.ask('thread/archive', { threadId: ROOT })).error).toMatchObject({
    message: expect.stringContaining('full'),
  });
  expect(isGone(server, 'thread/archived')).toEqual(agentIds(server));
  isFull = false;
  await server.client.request('thread/archive', { threadId: ROOT });
  expect(isGone(server, 'thread/archived')).toEqual([...agentIds(server), ROOT]);
});

test('an unarchive that fails can be tried again, and brings back all that was archived together', async () => {
  let failing = '';
  const wrapStore = failingStore('unarchiveThread', (id) => id === failing);
  const server = await withAgents(
    { root: [spawn({ message: 'child: a' }), done], child: [done] },
    { wrapStore },
  );
  await server.client.turn(ROOT, 'root: go');
  await turnsCompleted(server, 2);
  const [child = ''] = agentIds(server);
  await server.client.request('thread/archive', { threadId: ROOT });
  for (failing of [child, ROOT])
    expect((await server.client.ask('thread/unarchive', { threadId: ROOT })).error).toBeDefined();
  failing = '';
  await server.client.request('thread/unarchive', { threadId: ROOT });
  expect((await server.store.getThread(child))?.archivedAtMs).toBeNull();
  expect(isGone(server, 'thread/unarchived')).toEqual([child, ROOT]);
});

test('a close that fails at an agent announces those below it that are closed', async () => {
  let failing = '';
  const server = await withAgents(
    {
      root: [
        spawn({ message: 'child: a' }),
        (request) => wait(request),
        (request) => {
          failing = agentOf(request, 'spawn');
          return response(functionCall('close_agent', { target: failing }, { callId: 'close' }));
        },
        done,
      ],
      child: [spawn({ message: 'grandchild: b' }), (request) => wait(request), done],
      grandchild: [done],
    },
    {
      config: configWith('[agents]\nmax_depth = 2\n'),
      wrapStore: failingStore('updateThread', (id) => id === failing),
    },
  );
  await server.client.turn(ROOT, 'root: go');
  expect(isGone(server, 'thread/closed')).toEqual([agentIds(server)[1]]);
});

test('a resume that cannot read the agents does not leave the thread loaded', async () => {
  let isFull = false;
  const options = { wrapStore: failingStore('leftAgents', () => isFull) };
  const first = await withAgents({ root: [spawn({ message: 'child: a' }), done], child: [done] });
  await first.client.turn(ROOT, 'root: go');
  await turnsCompleted(first, 2);
  const server = await first.restart({ otherModel: new AgentsModel({}), ...options });
  isFull = true;
  expect((await server.client.ask('thread/resume', { threadId: ROOT })).error).toBeDefined();
  expect((await server.client.request('thread/loaded/list', {})).data).toEqual([]);
  isFull = false;
  await server.client.request('thread/resume', { threadId: ROOT });
});

test('the agents of reverted turns are closed, at the latest when the thread is loaded again', async () => {
  let isFull = false;
  const wrapStore = failingStore('updateThread', () => isFull);
  const server = await withAgents(
    { root: [spawn({ message: 'child: a' }), done], child: [done] },
    { wrapStore },
  );
  const { id } = await server.client.turn(ROOT, 'root: go');
  await turnsCompleted(server, 2);
  const [child = ''] = agentIds(server);
  isFull = true;
  await server.client.ask('thread/revert', { threadId: ROOT, beforeTurnId: id });
  expect((await server.store.getThread(child))?.agentClosedAtMs).toBeNull();
  const next = await server.restart({ otherModel: new AgentsModel({}) });
  await next.client.request('thread/resume', { threadId: ROOT });
  expect((await next.store.getThread(child))?.agentClosedAtMs).not.toBeNull();
});

test('an agent with the history of its parent can be reverted to the state before its first turn', async () => {
  const server = await withAgents({
    root: [
      response(message('the answer is seven')),
      spawn({ message: 'child: a', fork_context: true }),
      (request) => wait(request),
      done,
    ],
    child: [response(message('read')), response(message('again'))],
  });
  await server.client.turn(ROOT, 'root: go');
  await server.client.turn(ROOT, 'two');
  const [child = ''] = agentIds(server);
  const { thread } = await server.client.request('thread/read', {
    threadId: child,
    includeTurns: true,
  });
  const own = thread.turns.at(-1)?.id ?? '';
  await server.client.request('thread/revert', { threadId: child, beforeTurnId: own });
  const before = await server.client.request('thread/read', {
    threadId: child,
    includeTurns: true,
  });
  expect(before.thread.turns.map(({ id }) => id)).toEqual(
    thread.turns.slice(0, -1).map(({ id }) => id),
  );
  await server.client.turn(child, 'child: anew');
  const read = JSON.stringify(
    server.agents.of('root').concat(server.agents.of('child')).at(-1)?.input,
  );
  expect(read).toContain('the answer is seven');
  expect(
    JSON.stringify(
      server.agents.of('root').find(({ promptCacheKey }) => promptCacheKey === child)?.input,
    ),
  ).toContain('You are an agent');
  expect(read).not.toContain('child: a"');
  expect(
    (
      await server.client.request('thread/read', { threadId: child, includeTurns: true })
    ).thread.turns.at(-1)?.status,
  ).toBe('completed');
});

test('tokens that an agent used before a goal was set are not charged to it', async () => {
  const hold = new Gate();
  const works = new Gate();
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done, [works, ...done], done, done],
    child: [
      response(functionCall('update_plan', { plan: [{ step: 'a', status: 'pending' }] })),
      [hold, ...response(message('ok'))],
    ],
  });
  const { client } = server;
  await client.turn(ROOT, 'root: go');
  const [child = ''] = agentIds(server);
  await hold.reached;
  await client.request('thread/goal/set', {
    threadId: ROOT,
    objective: 'x',
    status: 'active',
    tokenBudget: 100_000,
  });
  await works.reached;
  hold.open();
  await client.waitFor('turn/completed', ({ threadId }) => threadId === child);
  await client.waitFor('thread/goal/updated', ({ goal }) => goal.tokensUsed > 0);
  const { last } =
    client.notifications('thread/tokenUsage/updated', ({ threadId }) => threadId === child)[0]
      ?.tokenUsage ?? failed();
  const each = last.inputTokens - last.cachedInputTokens + last.outputTokens;
  expect((await client.request('thread/goal/get', { threadId: ROOT })).goal).toMatchObject({
    tokensUsed: each,
  });
  await client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
});

test('input that a client sends to an agent right behind the interrupt of its parent begins a turn that goes on', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), (request) => wait(request)],
    child: [[new Gate()], response(message('did that instead'))],
  });
  const { client } = server;
  const { turn } = await client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  await client.waitFor(
    'item/started',
    ({ item }) => item.type === 'collabAgentToolCall' && item.tool === 'wait',
  );
  const [child = ''] = agentIds(server);
  const interrupted = client.request('turn/interrupt', { threadId: ROOT, turnId: turn.id });
  const begun = client.request('turn/start', { threadId: child, input: text('do this instead') });
  await interrupted;
  const own = await begun;
  expect((await client.turnCompleted(own.turn.id)).status).toBe('completed');
  expect((await client.turnCompleted(turn.id)).status).toBe('interrupted');
});

test('input that a client sends to an idle agent right behind the interrupt of its parent begins a turn that goes on', async () => {
  const works = new Gate();
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), (request) => wait(request), done, [new Gate()]],
    child: [done, [works, ...response(message('did that'))]],
  });
  const { client } = server;
  await client.turn(ROOT, 'root: go');
  const [child = ''] = agentIds(server);
  const { turn } = await client.request('turn/start', {
    threadId: ROOT,
    input: text('root: again'),
  });
  await client.waitFor('turn/started', (started) => started.turn.id === turn.id);
  const interrupted = client.request('turn/interrupt', { threadId: ROOT, turnId: turn.id });
  const begun = client.request('turn/start', { threadId: child, input: text('do this') });
  await interrupted;
  const own = await begun;
  expect((await client.turnCompleted(turn.id)).status).toBe('interrupted');
  works.open();
  expect((await client.turnCompleted(own.turn.id)).status).toBe('completed');
});

test('the start of an agent unloads no idle one as long as sixteen are idle', async () => {
  const many = Array.from({ length: 16 }, (_, n) =>
    functionCall('spawn_agent', { message: `child: ${n}` }, { callId: `c${n}` }),
  );
  const runs = new Gate();
  const server = await withAgents(
    {
      root: [response(...many), done, spawn({ message: 'late: x' }), done],
      child: Array.from({ length: 16 }, () => response(message('ok'))),
      late: [[runs]],
    },
    { config: configWith('[agents]\nmax_threads = 64\n') },
  );
  await server.client.turn(ROOT, 'root: go');
  await turnsCompleted(server, 17);
  await server.client.turn(ROOT, 'again');
  await runs.reached;
  expect((await server.client.request('thread/loaded/list', {})).data).toHaveLength(18);
  await server.client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
});

test('a limit is checked when the agent begins to work, and one that works takes no second place', async () => {
  const hold = new Gate();
  const server = await withAgents(
    {
      root: [
        spawn({ message: 'child: x' }),
        (request) =>
          response(
            functionCall(
              'send_input',
              { target: agentOf(request, 'spawn'), message: 'more' },
              { callId: 'send' },
            ),
          ),
        done,
      ],
      child: [[hold]],
    },
    { config: configWith('[agents]\nmax_threads = 1\n') },
  );
  await server.client.turn(ROOT, 'root: go');
  expect(outputs(server.agents.of('root').at(-1) ?? failed()).send).toMatchObject({
    submission_id: expect.any(String),
  });
  await server.client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
});

function failed(): never {
  throw new Error('there is none');
}
