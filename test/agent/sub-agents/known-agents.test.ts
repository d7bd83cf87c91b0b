import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import type { LogEntry } from '../../../src/store/thread-store.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { agentOf, outputs } from './agents-model.ts';
import { type AgentsServer, collabs, configWith, done, ROOT, spawn, wait, withAgents } from './agents-server.ts';

const send = (request: ModelRequest) =>
  response(functionCall('send_input', { target: agentOf(request, 'spawn'), message: 'again' }, { callId: 'send' }));

function agentIds({ client }: AgentsServer): string[] {
  return client.notifications('thread/started').flatMap(({ thread }) => (thread.parentThreadId === null ? [] : [thread.id]));
}

/** Resolves when so many turns have ended, of all threads. */
async function turnsEnded({ client }: AgentsServer, count: number): Promise<void> {
  let ends = 0;
  await client.first('the end of a turn', ({ method }) => method === 'turn/completed' && ++ends === count);
}

/** The messages about agents that a request has. */
function told(request: ModelRequest | undefined): string[] {
  const texts = (request?.input ?? []).flatMap((item) => (item.type === 'message' && typeof item.content !== 'string' ? item.content : []));
  return texts.flatMap((part) => ('text' in part && part.text.startsWith('<agents>') ? [part.text] : []));
}

const planned = response(functionCall('update_plan', { plan: [{ step: 'a', status: 'pending' }] }));

test('the parent is told of an end, though the agent says the same as the last time', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), (request) => wait(request), done, (request) => send(request), done, done],
    child: [response(message('Done.')), response(message('Done.'))],
  });
  await server.client.turn(ROOT, 'root: go');
  await server.client.turn(ROOT, 'two');
  await turnsEnded(server, 4);
  await server.client.turn(ROOT, 'three');
  expect(server.agents.of('root').map((request) => told(request).length)).toEqual([0, 0, 0, 0, 0, 1]);
  expect(told(server.agents.of('root').at(-1))[0]).toContain('{"completed":"Done."}');
});

test('after a revert, the parent is told again', async () => {
  const hold = new Gate();
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done, done, done],
    child: [[hold, ...response(message('found it'))]],
  });
  await server.client.turn(ROOT, 'root: go');
  hold.open();
  await server.client.waitFor('turn/completed', ({ threadId }) => threadId !== ROOT);
  const { id } = await server.client.turn(ROOT, 'two');
  await server.client.request('thread/revert', { threadId: ROOT, beforeTurnId: id });
  await server.client.turn(ROOT, 'three');
  expect(server.agents.of('root').map((request) => told(request).join())).toEqual([
    '',
    '',
    ...Array(2).fill(expect.stringContaining('found it')),
  ]);
});

test('a wait that an interrupt ends has failed', async () => {
  const server = await withAgents({ root: [spawn({ message: 'child: x' }), (request) => wait(request), done], child: [[new Gate()]] });
  const { turn } = await server.client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  await server.client.waitFor('item/started', ({ item }) => item.type === 'collabAgentToolCall' && item.tool === 'wait');
  await server.client.request('turn/interrupt', { threadId: ROOT, turnId: turn.id });
  await server.client.turnCompleted(turn.id);
  const [child = ''] = agentIds(server);
  expect(collabs(server).at(-1)).toMatchObject({ tool: 'wait', status: 'failed', receiverThreadIds: [child] });
  await server.client.turn(ROOT, 'again');
  expect(outputs(server.agents.of('root').at(-1) ?? expect.fail()).wait).toBe('The turn was interrupted before this was done.');
});

test('a wait that input of the user ends says so', async () => {
  const server = await withAgents({ root: [spawn({ message: 'child: x' }), (request) => wait(request), done], child: [[new Gate()]] });
  const { turn } = await server.client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  await server.client.waitFor('item/started', ({ item }) => item.type === 'collabAgentToolCall' && item.tool === 'wait');
  await server.client.request('turn/steer', { threadId: ROOT, expectedTurnId: turn.id, input: text('hurry') });
  await server.client.turnCompleted(turn.id);
  const output = outputs(server.agents.of('root').at(-1) ?? expect.fail()).wait;
  expect(output).toEqual({ status: {}, timed_out: false, note: expect.stringContaining('The user has said something') });
  await server.client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
});

test('items have the first and the last of a long message, and the model has more of it', async () => {
  const long = `begin ${'x'.repeat(500_000)} end`;
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), (request) => wait(request), done],
    child: [response(message(long))],
  });
  await server.client.turn(ROOT, 'root: go');
  const [child = ''] = agentIds(server);
  const shown = collabs(server).at(-1)?.agentsStates[child]?.message ?? '';
  const read = JSON.stringify(outputs(server.agents.of('root').at(-1) ?? expect.fail()).wait);
  expect([shown, read].map((each) => each.length)).toEqual([expect.closeTo(1_000, -3), expect.closeTo(10_000, -3)]);
  for (const each of [shown, read]) expect(each).toMatch(/begin x.*x end/s);
  const { thread } = await server.client.request('thread/read', { threadId: child, includeTurns: true });
  expect(thread.turns[0]?.items.at(-1)).toMatchObject({ type: 'agentMessage', text: long });
});

test.each([5_000, 12_000])('agents that each say %i words do not fill the context window of their parent', async (words) => {
  const spawns = [0, 1, 2, 3, 4].map((n) => functionCall('spawn_agent', { message: `child: ${n}` }, { callId: `c${n}` }));
  const server = await withAgents(
    { root: [response(...spawns), done], child: Array.from({ length: 5 }, () => response(message('word '.repeat(words)))) },
    { config: `model_context_window = 40000\n${configWith('')}` },
  );
  await server.client.turn(ROOT, 'root: go');
  await turnsEnded(server, 6);
  let asked = 0;
  const answer = ({ input }: ModelRequest) => {
    const last = JSON.stringify(input.at(-1));
    if (/summar/i.test(last) && !last.includes('<agents>')) return response(message('the summary'));
    return ++asked % 8 === 0 ? done : planned;
  };
  server.agents.push('root', ...Array(60).fill(answer));
  for (const turn of [1, 2, 3, 4])
    expect(await server.client.turn(ROOT, `more ${turn}`)).toMatchObject({ status: 'completed', error: null });
});

test('after a compaction, the model is told its agents at once, without their messages', async () => {
  const server = await withAgents({
    root: [
      spawn({ message: 'child: x' }),
      (request) => wait(request),
      spawn({ message: 'slow: y' }, 'second'),
      done,
      response(message('the summary')),
      done,
    ],
    child: [response(message('the result'))],
    slow: [[new Gate()]],
  });
  await server.client.turn(ROOT, 'root: go');
  await server.client.request('thread/compact/start', { threadId: ROOT });
  await server.client.waitFor('thread/compacted');
  await server.client.turn(ROOT, 'two');
  const [child = '', slow = ''] = agentIds(server);
  const last = server.agents.of('root').at(-1);
  expect(told(last)).toEqual([
    expect.stringContaining(`{"agent_id":"${child}","status":"completed"}\n{"agent_id":"${slow}","status":"running"}`),
  ]);
  expect(JSON.stringify(last?.input)).not.toContain('the result');
  await server.client.request('turn/interrupt', { threadId: ROOT, turnId: '' });
});

test.each([
  ['what it is told', done, (entries: string) => entries.includes('<agents>')],
  ['the output of its wait', (request: ModelRequest) => wait(request), (entries: string) => entries.includes('function_call_output')],
])('the parent learns of an end again if %s could not be stored', async (_, answer, isFailing) => {
  let fails = false;
  const hold = new Gate();
  const beforeWrite = ({ entries }: { entries: LogEntry[] }) => {
    if (fails && isFailing(JSON.stringify(entries))) throw new StoreError('store_full', 'the disk is full');
  };
  const server = await withAgents(
    { root: [spawn({ message: 'child: x' }), answer, done, done], child: [[hold, ...response(message('found it'))]] },
    { wrapStore: (store) => gatedStore(store, beforeWrite) },
  );
  if (answer === done) await server.client.turn(ROOT, 'root: go');
  else await server.client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  await server.client.waitFor('item/started', ({ threadId, item }) => threadId === ROOT && item.type !== 'userMessage');
  fails = true;
  hold.open();
  await server.client.waitFor('turn/completed', ({ threadId }) => threadId !== ROOT);
  if (answer === done) await server.client.turn(ROOT, 'two');
  await server.client.waitFor('turn/completed', ({ threadId, turn }) => threadId === ROOT && turn.status === 'failed');
  fails = false;
  await server.client.turn(ROOT, 'three');
  expect(told(server.agents.of('root').at(-1))).toEqual([expect.stringContaining('found it')]);
});
