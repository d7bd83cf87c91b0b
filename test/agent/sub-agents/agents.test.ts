import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { agentOf, outputs } from './agents-model.ts';
import { collabs, done, spawn, ROOT as threadId, wait, withAgents } from './agents-server.ts';

test('an agent works on its task in a thread of its own, and the one that started it reads its last message', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: count' }), (request) => wait(request), done],
    child: [response(message('there are three'))],
  });
  const turn = await server.client.turn(threadId, 'root: go');
  expect(turn.status).toBe('completed');
  const last = server.agents.of('root')[2];
  const agentId = last === undefined ? '' : agentOf(last, 'spawn');
  expect(last && outputs(last)).toEqual({
    spawn: { agent_id: agentId, nickname: 'Acorn' },
    wait: { status: { [agentId]: { completed: 'there are three' } }, timed_out: false },
  });
  expect(collabs(server)).toMatchObject([
    {
      tool: 'spawnAgent',
      status: 'completed',
      senderThreadId: threadId,
      receiverThreadIds: [agentId],
      prompt: 'child: count',
    },
    {
      tool: 'wait',
      status: 'completed',
      agentsStates: { [agentId]: { status: 'completed', message: 'there are three' } },
    },
  ]);
  const { thread } = await server.client.request('thread/read', { threadId: agentId });
  expect(thread).toMatchObject({
    parentThreadId: threadId,
    sessionId: threadId,
    agentNickname: 'Acorn',
    agentRole: null,
    threadSource: 'subagent',
    source: { subAgent: { thread_spawn: { parent_thread_id: threadId, depth: 1 } } },
  });
  const { data } = await server.client.request('thread/list', { parentThreadId: threadId });
  expect(data.map(({ id }) => id)).toEqual([agentId]);
});

test('the model and the effort that the call names are in the first request of the agent', async () => {
  const server = await withAgents({
    root: [
      spawn({ message: 'child: x', model: 'other-model', reasoning_effort: 'low' }),
      (request) => wait(request),
      done,
    ],
    child: [response(message('ok'))],
  });
  await server.client.turn(threadId, 'root: go');
  expect(server.agents.of('child')[0]).toMatchObject({ model: 'other-model', effort: 'low' });
  expect(collabs(server)[0]).toMatchObject({ model: 'other-model', reasoningEffort: 'low' });
});

test('an interrupt of the turn ends the turns of its agents before its own', async () => {
  const never = new Gate();
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), (request) => wait(request)],
    child: [[never]],
  });
  const { turn } = await server.client.request('turn/start', {
    threadId,
    input: [{ type: 'text', text: 'root: go' }],
  });
  await server.client.waitFor(
    'item/started',
    ({ item }) => item.type === 'collabAgentToolCall' && item.tool === 'wait',
  );
  await server.client.request('turn/interrupt', { threadId, turnId: turn.id });
  await server.client.turnCompleted(turn.id);
  const ends = server.client
    .notifications('turn/completed')
    .map(({ threadId: of, turn: { status } }) => [of === threadId, status]);
  expect(ends).toEqual([
    [false, 'interrupted'],
    [true, 'interrupted'],
  ]);
});

test('agents cannot start agents by default, and unknown agents are not found', async () => {
  const nobody = idOf(999);
  const server = await withAgents({
    root: [
      spawn({ message: 'child: x' }),
      response(
        functionCall('wait_agent', { targets: [nobody] }, { callId: 'wait' }),
        functionCall('send_input', { target: nobody, message: 'hi' }, { callId: 'send' }),
      ),
      done,
    ],
    child: [spawn({ message: 'grandchild: y' })],
  });
  await server.client.turn(threadId, 'root: go');
  const last = server.agents.of('root')[2];
  expect(last && outputs(last)).toMatchObject({
    wait: { status: { [nobody]: 'not_found' }, timed_out: false },
    send: `There is no agent ${nobody} that you have started.`,
  });
  const notFound = {
    status: 'failed',
    receiverThreadIds: [nobody],
    agentsStates: { [nobody]: { status: 'notFound', message: null } },
  };
  expect(collabs(server).slice(1)).toMatchObject([notFound, notFound]);
  expect(server.agents.of('child')[0]?.tools.map(({ name }) => name)).not.toContain('spawn_agent');
});

test('an agent that begins with the history of the thread is told that it is an agent, and whose turn was cut off', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'your task', fork_context: true }), (request) => wait(request), done],
  });
  await server.client.turn(threadId, 'root: go');
  // The agent has the history of the root, and so its script.
  const own = server.agents.requests
    .map(({ request }) => JSON.stringify(request.input))
    .find((input) => input.includes('"your task"'));
  expect(own).toContain('<copied_history>\\nYou are an agent.');
  expect(own).not.toContain('<turn_interrupted>');
  const [copied, task] = ['<copied_history>', '"your task"'].map(
    (each) => own?.indexOf(each) ?? -1,
  );
  expect(copied).toBeLessThan(task ?? -1);
});
