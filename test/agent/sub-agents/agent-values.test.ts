import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isObject } from '../../../src/base/json-value.ts';
import type { ModelRequest } from '../../../src/model/model.ts';
import type { ThreadSourceKind } from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { failed, functionCall, message, response } from '../../support/test-model.ts';
import { agentOf, outputs } from './agents-model.ts';
import { type AgentsServer, done, ROOT, spawn, withAgents } from './agents-server.ts';

const NOBODY = idOf(999);

/** The values of an enum that the required schema of an item names. */
function valuesOf(name: string): string[] {
  const path = join(
    import.meta.dirname,
    '..',
    '..',
    'protocol',
    'required',
    'ItemStartedNotification.json',
  );
  const { definitions } = JSON.parse(readFileSync(path, 'utf8')) as {
    definitions: Record<string, { enum: string[] }>;
  };
  return [...(definitions[name]?.enum ?? [])].sort();
}

/** The values that items of calls about agents have shown to the client. */
function shownBy({ client }: AgentsServer) {
  const items = [
    ...client.notifications('item/started'),
    ...client.notifications('item/completed'),
  ].flatMap(({ item }) => (item.type === 'collabAgentToolCall' ? [item] : []));
  const sorted = (values: readonly (string | undefined)[]) => [...new Set(values)].sort();
  return {
    tools: sorted(items.map(({ tool }) => tool)),
    statuses: sorted(items.map(({ status }) => status)),
    states: sorted(
      items.flatMap(({ agentsStates }) =>
        Object.values(agentsStates).map((state) => state?.status),
      ),
    ),
  };
}

let calls = 0;
const call = (name: string, args: object) =>
  response(functionCall(name, args, { callId: `call_${calls++}` }));
const about =
  (name: string, callId: string, args: object = {}) =>
  (request: ModelRequest) => {
    const id = agentOf(request, callId);
    return call(name, {
      ...(name === 'wait_agent'
        ? { targets: [id] }
        : name === 'resume_agent'
          ? { id }
          : { target: id }),
      ...args,
    });
  };

test('every tool, status and state of agents that the protocol names is shown', async () => {
  const server = await withAgents({
    root: [
      spawn({ message: 'good: x' }, 'good'),
      about('wait_agent', 'good'),
      about('close_agent', 'good'),
      about('resume_agent', 'good'),
      about('send_input', 'good', { message: 'again' }),
      spawn({ message: 'bad: x' }, 'bad'),
      about('wait_agent', 'bad'),
      call('wait_agent', { targets: [NOBODY] }),
      call('send_input', { target: NOBODY, message: 'x' }),
      spawn({ message: 'slow: x' }, 'slow'),
      done,
    ],
    good: [response(message('ok')), response(message('ok'))],
    bad: [[failed('broken')]],
    slow: [[new Gate()]],
  });
  await server.client.turn(ROOT, 'root: go');
  const last = server.agents.of('root').at(-1);
  if (last === undefined) throw new Error('the model was not asked');
  const [good, slow] = [agentOf(last, 'good'), agentOf(last, 'slow')];
  await server.client.request('turn/interrupt', { threadId: slow, turnId: '' });
  const { data } = await server.client.request('thread/turns/list', {
    threadId: good,
    sortDirection: 'asc',
  });
  await server.client.request('thread/revert', { threadId: good, beforeTurnId: data[0]?.id ?? '' });
  server.agents.push(
    'root',
    call('wait_agent', { targets: [slow] }),
    call('wait_agent', { targets: [good] }),
    done,
  );
  await server.client.turn(ROOT, 'what now?');
  expect(shownBy(server)).toEqual({
    tools: valuesOf('CollabAgentTool'),
    statuses: valuesOf('CollabAgentToolCallStatus'),
    states: valuesOf('CollabAgentStatus'),
  });
  const told = JSON.stringify(Object.values(outputs(server.agents.of('root').at(-1) ?? last)));
  for (const state of [
    '"pending_init"',
    '"interrupted"',
    '"not_found"',
    '{"completed":"ok"}',
    '{"errored":"broken"}',
  ])
    expect(told).toContain(state);
  const { thread } = await server.client.request('thread/read', {
    threadId: ROOT,
    includeTurns: true,
  });
  const kept = thread.turns
    .flatMap(({ items }) => items)
    .filter((item) => item.type === 'collabAgentToolCall');
  expect(kept).toHaveLength(12);
  expect(kept.every((item) => isObject(item) && item.status !== 'inProgress')).toBe(true);
});

test.each<[ThreadSourceKind, boolean]>([
  ['subAgent', true],
  ['subAgentThreadSpawn', true],
  ['subAgentReview', false],
  ['subAgentCompact', false],
  ['subAgentOther', false],
  ['cli', false],
  ['vscode', false],
  ['exec', false],
  ['appServer', false],
  ['unknown', false],
])('thread/list with the source kind %s has the agent: %s', async (kind, isListed) => {
  const server = await withAgents({
    root: [spawn({ message: 'child: x' }), done],
    child: [response(message('ok'))],
  });
  await server.client.turn(ROOT, 'root: go');
  const agentId = server.client.notifications('thread/started').at(-1)?.thread.id;
  const { data } = await server.client.request('thread/list', {
    sourceKinds: [kind],
    modelProviders: [],
  });
  expect(data.some(({ id }) => id === agentId)).toBe(isListed);
  const byDefault = await server.client.request('thread/list', {});
  expect(byDefault.data.map(({ id }) => id)).toEqual([ROOT]);
});

test.each(['user', 'subagent', 'memory_consolidation'] as const)(
  'thread/fork with the threadSource %s keeps it, and makes no agent',
  async (threadSource) => {
    const server = await withAgents({ root: [done] });
    await server.client.turn(ROOT, 'root: go');
    const { thread } = await server.client.request('thread/fork', { threadId: ROOT, threadSource });
    expect(thread).toMatchObject({
      threadSource,
      parentThreadId: null,
      agentNickname: null,
      agentRole: null,
    });
  },
);
