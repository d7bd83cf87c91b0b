import { expect, test } from 'vitest';
import type { TokenUsageBreakdown } from '../../../src/protocol/generated/types.ts';
import { functionCall, message, response, USAGE } from '../../support/test-model.ts';
import { agentOf } from './agents-model.ts';
import {
  type AgentsServer,
  configWith,
  done,
  ROOT,
  spawn,
  wait,
  withAgents,
} from './agents-server.ts';

const times = (count: number): TokenUsageBreakdown =>
  Object.fromEntries(
    Object.entries(USAGE).map(([key, value]) => [key, value * count]),
  ) as unknown as TokenUsageBreakdown;

/** The last usage that clients were told of a thread. */
const usageOf = ({ client }: Pick<AgentsServer, 'client'>, threadId: string) =>
  client
    .notifications('thread/tokenUsage/updated')
    .findLast((params) => params.threadId === threadId)?.tokenUsage;

const DEEP = configWith('[agents]\nmax_depth = 2\n');

/**
 * A tree of three threads: the root has made three requests, the agent three, and the agent of the
 * agent one.
 */
async function tree(): Promise<AgentsServer & { childId: string; grandchildId: string }> {
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x' }), (request) => wait(request), done],
      child: [spawn({ message: 'grandchild: y' }), (request) => wait(request), done],
      grandchild: [response(message('ok'))],
    },
    { config: DEEP },
  );
  await server.client.turn(ROOT, 'root: go');
  const [root, child] = [server.agents.of('root')[1], server.agents.of('child')[1]];
  if (root === undefined || child === undefined) throw new Error('the agents were not started');
  return { ...server, childId: agentOf(root, 'spawn'), grandchildId: agentOf(child, 'spawn') };
}

test('the usage of a thread is its own, and withAgents has that of all agents below it', async () => {
  const server = await tree();
  expect(usageOf(server, server.grandchildId)).toMatchObject({ total: times(1) });
  expect(usageOf(server, server.grandchildId)).not.toHaveProperty('withAgents');
  expect(usageOf(server, server.childId)).toMatchObject({
    total: times(3),
    withAgents: times(4),
    last: times(1),
  });
  expect(usageOf(server, ROOT)).toMatchObject({
    total: times(3),
    withAgents: times(7),
    last: times(1),
  });
});

test('an agent that has the history of the thread begins at zero', async () => {
  // The first script whose name is in the prompt counts: the agent reads the messages of the root,
  // too.
  const server = await withAgents({
    child: [response(message('ok'))],
    root: [spawn({ message: 'child: x', fork_context: true }), (request) => wait(request), done],
  });
  await server.client.turn(ROOT, 'root: go');
  expect(usageOf(server, ROOT)).toMatchObject({ total: times(3), withAgents: times(4) });
});

test('the end of an agent that nobody waits for is announced with the usage of the threads above it', async () => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done],
    child: [response(message('ok'))],
  });
  await server.client.turn(ROOT, 'root: go');
  await server.client.waitFor(
    'thread/tokenUsage/updated',
    ({ threadId, tokenUsage }) => threadId === ROOT && tokenUsage.withAgents?.totalTokens === 45,
  );
  expect(usageOf(server, ROOT)).toMatchObject({ total: times(2), withAgents: times(3) });
});

test('after a restart and a delete, the sum is that of the agents that there are', async () => {
  const server = await tree();
  const again = await server.restart();
  await again.client.request('thread/resume', { threadId: ROOT });
  expect((await again.client.waitFor('thread/tokenUsage/updated')).tokenUsage).toMatchObject({
    total: times(3),
    withAgents: times(7),
  });
  await again.client.request('thread/resume', { threadId: server.childId });
  await again.client.request('thread/delete', { threadId: server.grandchildId });
  const other = await again.connect();
  await other.request('thread/resume', { threadId: server.childId });
  expect((await other.waitFor('thread/tokenUsage/updated')).tokenUsage).toMatchObject({
    total: times(3),
  });
  const last = await again.restart();
  await last.client.request('thread/resume', { threadId: ROOT });
  expect((await last.client.waitFor('thread/tokenUsage/updated')).tokenUsage).toMatchObject({
    total: times(3),
    withAgents: times(6),
  });
});

test('the tokens of agents are charged to the goal of the thread that they work for', async () => {
  const goal = (name: string, args: object) => response(functionCall(name, args, { callId: name }));
  const server = await withAgents({
    root: [
      goal('create_goal', { objective: 'All is done.' }),
      spawn({ message: 'child: x' }),
      (request) => wait(request),
      goal('update_goal', { status: 'complete' }),
      done,
    ],
    child: [response(message('ok'))],
  });
  await server.client.turn(ROOT, 'root: go');
  const { goal: now } = await server.client.request('thread/goal/get', { threadId: ROOT });
  const charged = USAGE.inputTokens - USAGE.cachedInputTokens + USAGE.outputTokens;
  // Three responses of the thread since the goal was created, and one of the agent.
  expect(now).toMatchObject({ status: 'complete', tokensUsed: 4 * charged });
});
