import { expect, test } from 'vitest';
import { answer, callThenEnd, PLAN_MODE, QUESTIONS, question } from '../../support/asking.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { settled } from '../../support/settled.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { afterDeathOf } from '../after-death-of.ts';
import { type AgentResponse, AgentsModel, outputs } from './agents-model.ts';
import {
  type AgentsServer,
  agentIds,
  collabs,
  configWith,
  done,
  ROOT,
  spawn,
  wait,
  withAgents,
} from './agents-server.ts';

const NESTED = configWith('[agents]\nmax_depth = 3\n');
const forever = () => [new Gate()];

/** The ends of turns in their order: the number of the agent, 0 for the root, and the status. */
function ends(server: Pick<AgentsServer, 'client'>): [number, string][] {
  const ids = [ROOT, ...agentIds(server)];
  return server.client
    .notifications('turn/completed')
    .map(({ threadId, turn }) => [ids.indexOf(threadId), turn.status]);
}

/** A root that starts a child, which starts a grandchild, which never ends its turn. */
function nested(
  root: AgentResponse[],
  child: AgentResponse[] = [(request) => wait(request)],
): Record<string, AgentResponse[]> {
  return {
    root: [spawn({ message: 'child: x' }), ...root],
    child: [spawn({ message: 'grandchild: y' }), ...child],
    grandchild: [forever()],
  };
}

async function grandchildRuns({ client }: AgentsServer): Promise<void> {
  await client.waitFor('turn/started', ({ threadId }) => agentIds({ client })[1] === threadId);
}

test('an interrupt of an idle thread ends the turns of all agents below it', async () => {
  const server = await withAgents(nested([done]), { config: NESTED });
  const { client } = server;
  await client.turn(ROOT, 'root: go');
  await grandchildRuns(server);
  await client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
  await client.waitFor('turn/completed', ({ threadId }) => threadId === agentIds(server)[0]);
  expect(ends(server)).toEqual([
    [0, 'completed'],
    [2, 'interrupted'],
    [1, 'interrupted'],
  ]);
});

test('the turns of a tree end from its leaves to its root', async () => {
  const server = await withAgents(nested([(request) => wait(request)]), { config: NESTED });
  const { client } = server;
  const { turn } = await client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  await grandchildRuns(server);
  await client.request('turn/interrupt', { threadId: ROOT, turnId: turn.id });
  await client.turnCompleted(turn.id);
  expect(ends(server)).toEqual([
    [2, 'interrupted'],
    [1, 'interrupted'],
    [0, 'interrupted'],
  ]);
});

test('a thread between two that is not loaded does not hide the agents below it', async () => {
  const first = await withAgents(
    { ...nested([done], [done]), grandchild: [response(message('one'))] },
    { config: NESTED },
  );
  await first.client.turn(ROOT, 'root: go');
  await first.client.waitFor('turn/completed', ({ threadId }) => threadId === agentIds(first)[1]);
  const [child = '', grandchild = ''] = agentIds(first);
  await first.client.waitFor('turn/completed', ({ threadId }) => threadId === child);
  const agents = new AgentsModel({ root: [], grandchild: [[new Gate()]] });
  const server = await first.restart({ otherModel: agents, config: NESTED });
  const { client } = server;
  await client.request('thread/resume', { threadId: grandchild });
  const { turn } = await client.request('turn/start', {
    threadId: grandchild,
    input: text('again'),
  });
  await client.request('thread/resume', { threadId: ROOT });
  agents.push(
    'root',
    response(functionCall('close_agent', { target: child }, { callId: 'close' })),
    done,
  );
  await client.turn(ROOT, 'close it');
  const last = agents.of('root').at(-1);
  expect(last && outputs(last).close).toEqual({ previous_status: { completed: 'done' } });
  expect((await client.turnCompleted(turn.id)).status).toBe('interrupted');
  const { data } = await client.request('thread/loaded/list', {});
  expect(data).toEqual([ROOT]);
});

test('a thread is not unloaded while an agent below it works', async () => {
  const works = new Gate();
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done],
    child: [[works, ...response(message('one'))]],
  });
  const { client, clock } = server;
  await client.turn(ROOT, 'root: go');
  await works.reached;
  await client.request('thread/unsubscribe', { threadId: ROOT });
  clock.advance(31 * 60 * 1000);
  expect((await client.request('thread/loaded/list', {})).data).toContain(ROOT);
  works.open();
  await client.waitFor('turn/completed', ({ threadId }) => threadId !== ROOT);
  clock.advance(31 * 60 * 1000);
  await client.waitFor('thread/closed', ({ threadId }) => threadId === ROOT);
});

test('the questions of an agent reach the clients of the root, though a thread between them is not loaded', async () => {
  const first = await withAgents(
    { ...nested([done], [done]), grandchild: [response(message('one'))] },
    { config: NESTED },
  );
  await first.client.turn(ROOT, 'root: go');
  await first.client.waitFor('turn/completed', ({ threadId }) => threadId === agentIds(first)[1]);
  const grandchild = agentIds(first)[1] ?? '';
  const agents = new AgentsModel({ grandchild: callThenEnd('request_user_input', QUESTIONS) });
  const server = await first.restart({ otherModel: agents, config: NESTED });
  const other = await server.connect();
  await server.client.request('thread/resume', { threadId: grandchild });
  const { turn } = await server.client.request('turn/start', {
    threadId: grandchild,
    input: text('again'),
    ...PLAN_MODE,
  });
  const asked = await question(server.client, 'item/tool/requestUserInput');
  await other.request('thread/resume', { threadId: ROOT });
  expect(await question(other, 'item/tool/requestUserInput')).toEqual(asked);
  answer(other, asked, { answers: { q: { answers: ['A'] } } });
  expect((await server.client.turnCompleted(turn.id)).status).toBe('completed');
});

test('agents that are started side by side have different nicknames, and do not pass the limit together', async () => {
  const calls = Array.from({ length: 8 }, (_, index) =>
    functionCall('spawn_agent', { message: 'child: x' }, { callId: `spawn${index}` }),
  );
  const server = await withAgents(
    { root: [response(...calls), done], child: Array.from({ length: 8 }, forever) },
    { config: configWith('[agents]\nmax_threads = 5\n') },
  );
  await server.client.turn(ROOT, 'root: go');
  const started = collabs(server).filter(({ status }) => status === 'completed');
  expect([started.length, collabs(server).length]).toEqual([5, 8]);
  const last = server.agents.of('root').at(-1);
  const told = Object.values(last === undefined ? {} : outputs(last));
  const nicknames = told.flatMap((output) =>
    typeof output === 'object' && output !== null && 'nickname' in output ? [output.nickname] : [],
  );
  expect(new Set(nicknames).size).toBe(5);
  expect(told.filter((output) => typeof output === 'string')).toEqual(
    Array.from({ length: 3 }, () =>
      expect.stringMatching(/^The limit of 5 agents that work at a time is reached \(max_threads /),
    ),
  );
  await server.client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
  await server.client.count(Number.POSITIVE_INFINITY, () => ends(server).length === 6);
});

test('a revert closes the agents of the removed turns, and no others', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done, spawn({ message: 'other: y' }), done],
    child: [response(message('kept'))],
    other: [forever()],
  });
  const { client, agents } = server;
  await client.turn(ROOT, 'root: one');
  const { id } = await client.turn(ROOT, 'two');
  const [kept = '', removed = ''] = agentIds(server);
  await client.waitFor('turn/started', ({ threadId }) => threadId === removed);
  await client.request('thread/revert', { threadId: ROOT, beforeTurnId: id });
  expect(ends(server)).toContainEqual([2, 'interrupted']);
  agents.push(
    'root',
    response(functionCall('wait_agent', { targets: [kept, removed] }, { callId: 'wait' })),
    done,
  );
  await client.turn(ROOT, 'three');
  const last = agents.of('root').at(-1);
  expect(last && outputs(last).wait).toEqual({
    status: { [kept]: { completed: 'kept' }, [removed]: 'shutdown' },
    timed_out: false,
  });
});

test('a fork of a thread does not have its agents', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done],
    child: [response(message('mine'))],
  });
  const { client, agents } = server;
  await client.turn(ROOT, 'root: one');
  const [child = ''] = agentIds(server);
  const { thread } = await client.request('thread/fork', { threadId: ROOT });
  agents.push(
    'root',
    response(functionCall('send_input', { target: child, message: 'hi' }, { callId: 'send' })),
    done,
  );
  await client.turn(thread.id, 'and now');
  const last = agents.of('root').at(-1);
  expect(last && outputs(last).send).toBe(`There is no agent ${child} that you have started.`);
  const forkOfAgent = await client.request('thread/fork', { threadId: child });
  expect(forkOfAgent.thread).toMatchObject({
    parentThreadId: null,
    agentNickname: null,
    source: 'vscode',
  });
});

test('an agent that forks the history has it, and its usage begins at zero', async () => {
  const server = await withAgents({
    root: [done, spawn({ message: 'go on', fork_context: true }), (request) => wait(request), done],
  });
  const { client } = server;
  await client.turn(ROOT, 'root: remember this');
  // The agent has the history of the root, and so its script.
  server.agents.push('root', done);
  await client.turn(ROOT, 'two');
  const [child = ''] = agentIds(server);
  const totals = client.notifications(
    'thread/tokenUsage/updated',
    ({ threadId }) => threadId === child,
  );
  expect(totals.map(({ tokenUsage }) => tokenUsage.total)).toEqual(
    totals.slice(0, 1).map(({ tokenUsage }) => tokenUsage.last),
  );
  const { thread } = await client.request('thread/read', { threadId: child, includeTurns: true });
  expect(thread.turns.map(({ status }) => status)).toEqual([
    'completed',
    'interrupted',
    'completed',
  ]);
});

test('the end of the input with --drain waits for agents, also for those that they start', async () => {
  const hold = new Gate();
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x' }), done],
      child: [[hold, ...spawn({ message: 'grandchild: y' })], done],
      grandchild: [response(message('late'))],
    },
    { config: NESTED, drain: true },
  );
  const { client } = server;
  await client.turn(ROOT, 'root: go');
  const closed = client.close();
  hold.open();
  await closed;
  expect(ends(server).toSorted()).toEqual([
    [0, 'completed'],
    [1, 'completed'],
    [2, 'completed'],
  ]);
});

test('the end of the server ends the turns of all agents, and a restart knows their states', async () => {
  const first = await withAgents(nested([done]), { config: NESTED });
  await first.client.turn(ROOT, 'root: go');
  await grandchildRuns(first);
  const [child = '', grandchild = ''] = agentIds(first);
  const agents = new AgentsModel({ root: [] });
  const server = await first.restart({ otherModel: agents, config: NESTED });
  expect(ends(first)).toEqual(
    expect.arrayContaining([
      [2, 'interrupted'],
      [1, 'interrupted'],
    ]),
  );
  await server.client.request('thread/resume', { threadId: ROOT });
  agents.push(
    'root',
    response(functionCall('wait_agent', { targets: [child, grandchild] }, { callId: 'again' })),
    done,
  );
  await server.client.turn(ROOT, 'root: how are they?');
  const [before, after] = agents.of('root');
  expect(before && JSON.stringify(before.input)).toContain(
    'The states of agents that you have started',
  );
  expect(after && outputs(after).again).toEqual({
    status: { [child]: 'interrupted', [grandchild]: 'interrupted' },
    timed_out: false,
  });
});

test('after the death of the server, agents continue with what they had read', async () => {
  const first = await withAgents(nested([done]), { config: NESTED });
  await first.client.turn(ROOT, 'root: go');
  await grandchildRuns(first);
  const [child = '', grandchild = ''] = agentIds(first);
  const after = await afterDeathOf(first);
  await after.client.request('thread/resume', { threadId: ROOT });
  const agents = new AgentsModel({ root: [], child: [response(message('revived'))] });
  const server = await after.restart({ otherModel: agents, config: NESTED });
  await server.client.request('thread/resume', { threadId: ROOT });
  agents.push(
    'root',
    response(functionCall('wait_agent', { targets: [child, grandchild] }, { callId: 'w1' })),
    response(functionCall('send_input', { target: child, message: 'go on' }, { callId: 's' })),
    response(functionCall('wait_agent', { targets: [child] }, { callId: 'w2' })),
    done,
  );
  await server.client.turn(ROOT, 'root: go on');
  const last = agents.of('root').at(-1);
  expect(last && outputs(last)).toMatchObject({
    w1: { status: { [child]: 'interrupted', [grandchild]: 'interrupted' } },
    w2: { status: { [child]: { completed: 'revived' } } },
  });
  expect(JSON.stringify(agents.of('child')[0]?.input)).toContain('child: x');
});

test('an agent that was stored and never began is deleted when its parent is loaded', async () => {
  const stored = new Gate();
  const server = await withAgents(
    { root: [spawn({ message: 'child: x' }), done] },
    {
      wrapStore: (store) =>
        gatedStore(store, async ({ entries }) => {
          const isChilds = entries.some(
            (entry) => entry.kind === 'item' && JSON.stringify(entry.item).includes('child: x'),
          );
          if (isChilds && !entries.some(({ kind }) => kind === 'model')) await stored.pass();
          else if (
            entries.some(({ kind }) => kind === 'turnStarted') &&
            JSON.stringify(entries).includes('child: x')
          )
            await stored.pass();
        }),
    },
  );
  await server.client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  await stored.reached;
  const next = await afterDeathOf(server);
  expect(await next.store.listAgents(ROOT)).toHaveLength(1);
  await next.client.request('thread/resume', { threadId: ROOT });
  expect(await next.store.listAgents(ROOT)).toEqual([]);
  stored.open();
});

test('idle agents beyond sixteen are unloaded, though clients follow them, and are loaded again for input', async () => {
  const many = Array.from({ length: 18 }, (_, index) =>
    functionCall('spawn_agent', { message: `child: ${index}` }, { callId: `c${index}` }),
  );
  const server = await withAgents(
    {
      root: [response(...many), done],
      child: Array.from({ length: 20 }, () => response(message('ok'))),
    },
    { config: configWith('[agents]\nmax_threads = 64\n') },
  );
  const { client, agents } = server;
  await client.turn(ROOT, 'root: go');
  await client.count(
    Number.POSITIVE_INFINITY,
    () => client.notifications('thread/closed').length === 2,
  );
  const closed = client.notifications('thread/closed').map(({ threadId }) => threadId);
  const again = closed[0] ?? '';
  agents.push(
    'root',
    response(functionCall('send_input', { target: again, message: 'more' }, { callId: 's' })),
    response(functionCall('wait_agent', { targets: [again] }, { callId: 'w' })),
    done,
  );
  await client.turn(ROOT, 'again');
  const last = agents.of('root').at(-1);
  expect(last && outputs(last).w).toEqual({
    status: { [again]: { completed: 'ok' } },
    timed_out: false,
  });
  expect(client.notifications('turn/completed', ({ threadId }) => threadId === again)).toHaveLength(
    2,
  );
});

test('a client keeps an agent loaded that it has opened itself', async () => {
  const many = Array.from({ length: 18 }, (_, index) =>
    functionCall('spawn_agent', { message: `child: ${index}` }, { callId: `c${index}` }),
  );
  const server = await withAgents(
    {
      root: [spawn({ message: 'mine: x' }), done, response(...many), done],
      child: Array.from({ length: 20 }, () => response(message('ok'))),
    },
    { config: configWith('[agents]\nmax_threads = 64\n') },
  );
  const { client } = server;
  await client.turn(ROOT, 'root: go');
  const [mine = ''] = agentIds(server);
  await client.waitFor('turn/completed', ({ threadId }) => threadId === mine);
  await client.request('thread/resume', { threadId: mine });
  await client.turn(ROOT, 'again');
  await client.count(
    Number.POSITIVE_INFINITY,
    () => client.notifications('thread/closed').length === 2,
  );
  await settled(client, mine);
  expect(client.notifications('thread/closed').map(({ threadId }) => threadId)).not.toContain(mine);
  expect((await client.turn(mine, 'hello')).status).toBe('completed');
});

test('an agent keeps its sandbox when a client opens it, and gets no more than its parent may do now', async () => {
  const first = await withAgents(
    { root: [spawn({ message: 'child: x' }), done], child: [done] },
    {
      thread: { sandbox: 'read-only', approvalPolicy: 'never' },
      config: configWith('sandbox_mode = "danger-full-access"\n'),
    },
  );
  await first.client.turn(ROOT, 'root: go');
  await first.client.waitFor('turn/completed', ({ threadId }) => threadId === agentIds(first)[0]);
  const [child = ''] = agentIds(first);
  const agents = new AgentsModel({ root: [], child: [done, done] });
  const server = await first.restart({ otherModel: agents });
  expect(await server.client.request('thread/resume', { threadId: child })).toMatchObject({
    sandbox: { type: 'readOnly' },
    approvalPolicy: 'never',
  });
  await server.client.request('thread/resume', {
    threadId: child,
    sandbox: 'workspace-write',
    approvalPolicy: 'on-request',
  });
  await server.client.request('thread/resume', {
    threadId: ROOT,
    sandbox: 'read-only',
    approvalPolicy: 'never',
  });
  agents.push(
    'root',
    response(functionCall('send_input', { target: child, message: 'more' }, { callId: 's' })),
    done,
  );
  await server.client.turn(ROOT, 'root: again');
  const { settings } = (await server.store.getThread(child)) ?? {};
  expect(settings).toMatchObject({ sandboxPolicy: { type: 'readOnly' }, approvalPolicy: 'never' });
});

test('the parent learns of ends that it did not wait for, once', async () => {
  const hold = new Gate();
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done, done, done],
    child: [[hold, ...response(message('found it'))]],
  });
  const { client, agents } = server;
  await client.turn(ROOT, 'root: go');
  hold.open();
  await client.waitFor('turn/completed', ({ threadId }) => threadId !== ROOT);
  await client.turn(ROOT, 'two');
  await client.turn(ROOT, 'three');
  const last = agents.of('root').at(-1);
  const told = JSON.stringify(last?.input).match(/The states of agents that you have started/g);
  expect(told).toHaveLength(1);
  expect(JSON.stringify(last?.input)).toContain('found it');
});

test('archive, unarchive and delete take the agents with their thread', async () => {
  const server = await withAgents(nested([done]), { config: NESTED });
  const { client, store } = server;
  await client.turn(ROOT, 'root: go');
  await grandchildRuns(server);
  const [child = '', grandchild = ''] = agentIds(server);
  await client.request('thread/archive', { threadId: ROOT });
  await client.waitFor('thread/archived', ({ threadId }) => threadId === ROOT);
  expect(client.notifications('thread/archived').map(({ threadId }) => threadId)).toEqual([
    grandchild,
    child,
    ROOT,
  ]);
  expect(ends(server)).toEqual(
    expect.arrayContaining([
      [2, 'interrupted'],
      [1, 'interrupted'],
    ]),
  );
  await client.request('thread/unarchive', { threadId: ROOT });
  expect((await store.listAgents(ROOT)).map(({ archivedAtMs }) => archivedAtMs)).toEqual([
    null,
    null,
  ]);
  await client.request('thread/delete', { threadId: ROOT });
  await client.waitFor('thread/deleted', ({ threadId }) => threadId === ROOT);
  expect(client.notifications('thread/deleted').map(({ threadId }) => threadId)).toEqual([
    grandchild,
    child,
    ROOT,
  ]);
  for (const id of [ROOT, child, grandchild]) expect(await store.getThread(id)).toBeNull();
});
