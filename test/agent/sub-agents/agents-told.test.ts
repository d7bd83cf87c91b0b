import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import { CountingIds } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { AgentsModel, agentOf, outputs } from './agents-model.ts';
import {
  agentIds,
  collabs,
  configWith,
  done,
  ROOT,
  spawn,
  turnsCompleted,
  wait,
  withAgents,
} from './agents-server.ts';

/** The text about agents in a request to the model. */
function agentsTexts(request: ModelRequest | undefined): string[] {
  return JSON.stringify(request?.input ?? []).match(/<agents>.*?<\/agents>/g) ?? [];
}

test('a long message of an agent is cut: for the model to 10,000 characters, in items to 1,000', async () => {
  const long = `BEGIN${'x'.repeat(500_000)}END`;
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), (r) => wait(r), done],
    child: [response(message(long))],
  });
  await server.client.turn(ROOT, 'root: go');
  const read = JSON.stringify(server.agents.of('root')[2]?.input);
  expect(read).toMatch(/BEGINx+ \[… 490008 characters left out …\] x+END/);
  const shown = Object.values(collabs(server).at(-1)?.agentsStates ?? {})[0]?.message ?? '';
  expect(shown).toMatch(/^BEGINx{495} \[… 499008 characters left out …\] x{497}END$/);
});

test('a thread whose agents end with long messages goes on: after a compaction the model reads their states only', async () => {
  const spawns = [0, 1, 2, 3, 4].map((n) =>
    functionCall('spawn_agent', { message: `child: ${n}` }, { callId: `c${n}` }),
  );
  const server = await withAgents(
    {
      root: [response(...spawns), done],
      child: Array.from({ length: 5 }, () => response(message('word '.repeat(12_000)))),
    },
    { config: `model_context_window = 40000\n${configWith('')}` },
  );
  await server.client.turn(ROOT, 'root: go');
  await turnsCompleted(server, 6);
  const root = (request: ModelRequest) =>
    request.tools.length === 0 ? response(message('the summary')) : done;
  server.agents.push('root', ...Array.from({ length: 12 }, () => root));
  expect(await server.client.turn(ROOT, 'two')).toMatchObject({ status: 'completed' });
  const [first = ''] = agentsTexts(server.agents.of('root').at(-1));
  expect(first.length).toBeLessThan(10_000);
  await server.client.request('thread/compact/start', { threadId: ROOT });
  await turnsCompleted(server, 8);
  expect(await server.client.turn(ROOT, 'three')).toMatchObject({ status: 'completed' });
  const [again = ''] = agentsTexts(server.agents.of('root').at(-1));
  expect(again.match(/\\"status\\":\\"completed\\"/g)).toHaveLength(5);
});

test('an end is told, though its message is the same as that of the turn before', async () => {
  const server = await withAgents({
    root: [
      spawn({ message: 'child: x' }),
      (request) => wait(request),
      done,
      (request) =>
        response(
          functionCall(
            'send_input',
            { target: agentOf(request, 'spawn'), message: 'again' },
            { callId: 'send' },
          ),
        ),
      done,
      done,
    ],
    child: [response(message('Done.')), response(message('Done.'))],
  });
  await server.client.turn(ROOT, 'root: go');
  await server.client.turn(ROOT, 'two');
  await turnsCompleted(server, 4);
  await server.client.turn(ROOT, 'three');
  expect(agentsTexts(server.agents.of('root').at(-1))).toEqual([expect.stringContaining('Done.')]);
});

test('after a revert the model is told again', async () => {
  const hold = new Gate();
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done, done, done],
    child: [[hold, ...response(message('found it'))]],
  });
  await server.client.turn(ROOT, 'root: go');
  hold.open();
  await turnsCompleted(server, 2);
  const { id } = await server.client.turn(ROOT, 'two');
  expect(agentsTexts(server.agents.of('root').at(-1))).toEqual([
    expect.stringContaining('found it'),
  ]);
  await server.client.request('thread/revert', { threadId: ROOT, beforeTurnId: id });
  await server.client.turn(ROOT, 'three');
  expect(agentsTexts(server.agents.of('root').at(-1))).toEqual([
    expect.stringContaining('found it'),
  ]);
});

test('a wait that is interrupted has failed; one that ends because the user says something tells so', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), (r) => wait(r), done, (r) => wait(r)],
    child: [[new Gate()]],
  });
  const { client } = server;
  const { turn } = await client.request('turn/start', { threadId: ROOT, input: text('root: go') });
  const waits = ({ item }: { item: { type: string; tool?: string } }) =>
    item.type === 'collabAgentToolCall' && item.tool === 'wait';
  await client.waitFor('item/started', waits);
  await client.request('turn/steer', {
    threadId: ROOT,
    expectedTurnId: turn.id,
    input: text('hurry'),
  });
  await client.turnCompleted(turn.id);
  const last = server.agents.of('root').at(-1);
  expect(last && outputs(last).wait).toMatchObject({
    status: {},
    timed_out: false,
    note: expect.stringContaining('The user has said'),
  });
  const { turn: second } = await client.request('turn/start', {
    threadId: ROOT,
    input: text('two'),
  });
  await client.count(
    Number.POSITIVE_INFINITY,
    () => client.notifications('item/started').filter(waits).length === 2,
  );
  await client.request('turn/interrupt', { threadId: ROOT, turnId: second.id });
  await client.turnCompleted(second.id);
  expect(collabs(server).at(-1)).toMatchObject({ tool: 'wait', status: 'failed' });
});

test('a wait sees the end of an agent that another process runs', async () => {
  const hold = new Gate();
  const first = await withAgents({
    root: [spawn({ message: 'child: x' }), done],
    child: [done, [hold, ...response(message('there'))]],
  });
  await first.client.turn(ROOT, 'root: go');
  await turnsCompleted(first, 2);
  const [child = ''] = agentIds(first);
  await first.client.request('thread/unsubscribe', { threadId: ROOT });
  // The timer is set when the turn has ended for the server, too.
  await first.clock.timerOf(30 * 60 * 1000);
  first.clock.advance(31 * 60 * 1000);
  await first.client.waitFor('thread/closed', ({ threadId }) => threadId === ROOT);
  await first.client.request('turn/start', { threadId: child, input: text('child: more') });
  await hold.reached;
  const agents = new AgentsModel({
    root: [response(functionCall('wait_agent', { targets: [child] }, { callId: 'wait' })), done],
  });
  const { folder } = first;
  const second = await startServer({
    folder,
    pid: 4712,
    ids: new CountingIds(1000),
    otherModel: agents,
    config: configWith(''),
  });
  await second.client.request('thread/resume', { threadId: ROOT });
  const { turn } = await second.client.request('turn/start', {
    threadId: ROOT,
    input: text('root: look'),
  });
  await second.clock.timerOf(2_000);
  hold.open();
  await turnsCompleted(first, 3);
  second.clock.advance(2_000);
  await second.client.turnCompleted(turn.id);
  const last = agents.of('root').at(-1);
  expect(last && outputs(last).wait).toEqual({
    status: { [child]: { completed: 'there' } },
    timed_out: false,
  });
});
