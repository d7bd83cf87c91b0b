import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import { message, response } from '../../support/test-model.ts';
import { agentOf, outputs } from './agents-model.ts';
import {
  type AgentsServer,
  collabs,
  configWith,
  done,
  ROOT,
  spawn,
  wait,
  withAgents,
} from './agents-server.ts';

const ROLES = configWith(`[agents.reviewer]
description = "Finds faults."
nickname_candidates = ["Ann"]
model = "large"
model_reasoning_effort = "high"
sandbox_mode = "read-only"
approval_policy = "untrusted"
developer_instructions = "Be strict."
[agents.free]
sandbox_mode = "danger-full-access"
approval_policy = "never"
personality = "friendly"
[agents.broken]
model = 5
`);

/** The first request of an agent that is started with these arguments. */
async function started(
  args: object,
  options: Parameters<typeof withAgents>[1] = {},
): Promise<AgentsServer & { first: ModelRequest; id: string; output: unknown }> {
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x', ...args }), (request) => wait(request), done],
      child: [response(message('ok'))],
    },
    { config: ROLES, ...options },
  );
  await server.client.turn(ROOT, 'root: go');
  const [first] = server.agents.of('child');
  const last = server.agents.of('root')[1];
  if (first === undefined || last === undefined) throw new Error('the agent was not started');
  return { ...server, first, id: agentOf(last, 'spawn'), output: outputs(last).spawn };
}

const developerTexts = ({ input }: ModelRequest) =>
  input
    .flatMap((item) =>
      item.type === 'message' && item.role === 'developer' && typeof item.content !== 'string'
        ? item.content
        : [],
    )
    .map((part) => ('text' in part ? part.text : ''));

test('an agent has the model, the effort, the instructions, the sandbox and a name of its role', async () => {
  const { client, first, id, output } = await started(
    { agent_type: 'reviewer' },
    { thread: { developerInstructions: 'Be brief.' } },
  );
  expect(first).toMatchObject({ model: 'large', effort: 'high' });
  expect(developerTexts(first)).toContain('Be brief.\n\nBe strict.');
  expect(output).toEqual({ agent_id: id, nickname: 'Ann' });
  const { thread, ...settings } = await client.request('thread/resume', { threadId: id });
  expect(thread).toMatchObject({
    agentNickname: 'Ann',
    agentRole: 'reviewer',
    model: 'large',
    reasoningEffort: 'high',
  });
  expect(settings).toMatchObject({
    model: 'large',
    reasoningEffort: 'high',
    sandbox: { type: 'readOnly' },
  });
});

test('a role never gives more than the thread that starts the agent has', async () => {
  const { client, id, first } = await started(
    { agent_type: 'free' },
    { thread: { sandbox: 'read-only', approvalPolicy: 'untrusted' } },
  );
  const settings = await client.request('thread/resume', { threadId: id });
  expect(settings).toMatchObject({ sandbox: { type: 'readOnly' }, approvalPolicy: 'untrusted' });
  expect(developerTexts(first).join()).toContain('Tone: be warm');
});

test.each([
  ['the call', { model: 'asked', reasoning_effort: 'low' }, '', { model: 'asked', effort: 'low' }],
  [
    'the configuration, if the call names none',
    {},
    '[agents]\ndefault_subagent_model = "small"\ndefault_subagent_reasoning_effort = "minimal"\n',
    { model: 'small', effort: 'minimal' },
  ],
  [
    'the call, before the configuration',
    { model: 'asked' },
    '[agents]\ndefault_subagent_model = "small"\ndefault_subagent_reasoning_effort = "minimal"\n',
    { model: 'asked', effort: 'minimal' },
  ],
  [
    'the thread that starts it, if nothing else does',
    {},
    '',
    { model: 'test-model', effort: 'medium' },
  ],
])(
  'the first request of an agent has the model and the effort of %s',
  async (_, args, config, expected) => {
    const server = await withAgents(
      {
        root: [spawn({ message: 'child: x', ...args }), (request) => wait(request), done],
        child: [response(message('ok'))],
      },
      { config: configWith(config) },
    );
    await server.client.turn(ROOT, 'root: go', { effort: 'medium' });
    expect(server.agents.of('child')[0]).toMatchObject(expected);
    expect(collabs(server)[0]).toMatchObject({
      model: expected.model,
      reasoningEffort: expected.effort,
    });
  },
);

test('a role overrules the model and the effort of the call, and says so', async () => {
  const { first, output, id, ...server } = await started({
    agent_type: 'reviewer',
    model: 'asked',
    reasoning_effort: 'low',
  });
  expect(first).toMatchObject({ model: 'large', effort: 'high' });
  expect(output).toEqual({
    agent_id: id,
    nickname: 'Ann',
    note: 'The configuration of the role reviewer sets the model large and the reasoning effort high.',
  });
  expect(collabs(server)[0]).toMatchObject({ model: 'large', reasoningEffort: 'high' });
});

test('the model is told the roles, and cannot choose one that is unknown or not valid', async () => {
  const server = await withAgents(
    {
      root: [
        spawn({ message: 'x', agent_type: 'nobody' }),
        spawn({ message: 'x', agent_type: 'broken' }, 'second'),
        done,
      ],
    },
    { config: ROLES },
  );
  await server.client.turn(ROOT, 'root: go');
  const [first, , last] = server.agents.of('root');
  const tool = first?.tools.find(({ name }) => name === 'spawn_agent');
  const parameters = JSON.stringify(tool);
  expect(parameters).toContain('- reviewer: Finds faults.');
  expect(parameters).toContain('- explorer: ');
  expect(last && outputs(last)).toEqual({
    spawn: 'spawn_agent: `agent_type` must be one of default, worker, explorer, free, reviewer.',
    second: expect.stringMatching(
      /^spawn_agent: there is no agent of the role broken: invalid config: .*model: expected a non-empty string, found 5\.$/,
    ),
  });
  expect(collabs(server)).toEqual([]);
});

test('a role of the name of a built-in one takes its place', async () => {
  const { first } = await started(
    { agent_type: 'explorer' },
    { config: configWith('[agents.explorer]\ndeveloper_instructions = "Mine."\n') },
  );
  expect(developerTexts(first)).toContain('Mine.');
});

test('an agent has the settings that the request gave the thread that starts it', async () => {
  const { first } = await started({}, { thread: { config: { 'features.shell_tool': false } } });
  expect(first.tools.map(({ name }) => name)).not.toContain('exec_command');
});

test('a setting of a role that is found to be wrong when an agent is started fails the call, and the turn goes on', async () => {
  const config = configWith('[agents.r]\ndefault_permissions = "nowhere"\n');
  const server = await withAgents(
    { root: [spawn({ message: 'x', agent_type: 'r' }), done] },
    { config },
  );
  expect((await server.client.turn(ROOT, 'root: go')).status).toBe('completed');
  expect(collabs(server)).toMatchObject([
    { tool: 'spawnAgent', status: 'failed', receiverThreadIds: [] },
  ]);
});
