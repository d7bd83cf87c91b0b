import { expect, test } from 'vitest';
import { idOf } from '../support/counting-ids.ts';
import { START } from '../support/expected.ts';
import { functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const threadId = idOf(1);

/** The outputs of the calls of one turn, with one call for each request. */
async function outputsOf(
  server: TestServer,
  calls: [name: string, args: object | string][],
): Promise<unknown[]> {
  const before = server.model.requests.length;
  for (const [index, [name, args]] of calls.entries())
    server.model.push(response(functionCall(name, args, { callId: `c${index}` })));
  server.model.push(response(message('end')));
  await server.client.turn(threadId, 'go');
  const { input } = server.model.request(before + calls.length + 1);
  return input.flatMap((item) =>
    item.type === 'function_call_output' && typeof item.output === 'string'
      ? [parsedOutput(item.output)]
      : [],
  );
}

/** Parses JSON; returns any other text as it is. */
function parsedOutput(output: string): unknown {
  return output.startsWith('{') ? JSON.parse(output) : output;
}

async function withThread(): Promise<TestServer> {
  const server = await startServer({ model: new TestModel() });
  await server.client.request('thread/start', {});
  return server;
}

const MINE = {
  threadId,
  objective: 'mine',
  status: 'active',
  tokenBudget: 500,
  tokensUsed: 0,
  timeUsedSeconds: 0,
  createdAt: START,
  updatedAt: START,
};

test('the model creates a goal, reads it and completes it; then it may create another, with its own counters', async () => {
  const server = await withThread();
  const outputs = await outputsOf(server, [
    ['get_goal', {}],
    ['create_goal', { objective: ' mine ', token_budget: 500 }],
    ['get_goal', {}],
    ['update_goal', { status: 'complete' }],
    ['create_goal', { objective: 'second' }],
    ['update_goal', { status: 'paused' }],
  ]);
  const used = { ...MINE, tokensUsed: 11 };
  const complete = { ...MINE, status: 'complete', tokensUsed: 22 };
  const second = { ...MINE, objective: 'second', tokenBudget: null };
  const last = { ...second, status: 'paused', tokensUsed: 11 };
  expect(outputs).toEqual([
    { goal: null, remainingTokens: null, completionBudgetReport: null },
    { goal: MINE, remainingTokens: 500, completionBudgetReport: null },
    { goal: used, remainingTokens: 489, completionBudgetReport: null },
    { goal: complete, remainingTokens: 478, completionBudgetReport: expect.any(String) },
    { goal: second, remainingTokens: null, completionBudgetReport: null },
    { goal: last, remainingTokens: null, completionBudgetReport: null },
  ]);
  const { turn } = await server.client.waitFor('turn/started');
  expect(server.client.notifications('thread/goal/updated')).toEqual(
    [
      MINE,
      used,
      { ...used, tokensUsed: 22 },
      complete,
      second,
      { ...second, tokensUsed: 11 },
      last,
    ].map((goal) => ({
      threadId,
      turnId: turn.id,
      goal,
    })),
  );
  expect(await server.client.request('thread/goal/get', { threadId })).toEqual({ goal: last });
});

test('invalid calls tell the model why, and change nothing', async () => {
  const server = await withThread();
  const outputs = await outputsOf(server, [
    ['update_goal', { status: 'complete' }],
    ['create_goal', {}],
    ['create_goal', 'not JSON'],
    ['create_goal', { objective: ' ' }],
    ['create_goal', { objective: 'x'.repeat(4001) }],
    ['create_goal', { objective: 'x', token_budget: 0 }],
    ['create_goal', { objective: 'x', token_budget: 1.5 }],
  ]);
  expect(outputs).toEqual([
    'This thread has no goal.',
    'create_goal: `objective` is missing: pass the goal as a string.',
    'The arguments of create_goal are not valid JSON.',
    'goal objective must not be empty',
    'goal objective must be at most 4000 characters, not 4001',
    'goal token budget must be positive, or null for no budget',
    'create_goal: `token_budget` must be a whole number; leave it out for no limit.',
  ]);
  expect(await server.client.request('thread/goal/get', { threadId })).toEqual({ goal: null });
  expect(server.client.notifications('thread/goal/updated')).toEqual([]);
});

test('the model cannot replace a goal that is not complete, nor set every status', async () => {
  const server = await withThread();
  await server.client.request('thread/goal/set', {
    threadId,
    objective: 'theirs',
    status: 'paused',
  });
  const outputs = await outputsOf(server, [
    ['create_goal', { objective: 'mine' }],
    ['update_goal', { status: 'active' }],
    ['update_goal', { status: 'budgetLimited' }],
    ['update_goal', []],
  ]);
  const wrong =
    'update_goal: `status` must be one of complete, blocked, paused. You cannot set any other status.';
  expect(outputs).toEqual([
    'The thread already has a goal that is not complete. Complete it first, or let the user clear it.',
    wrong,
    wrong,
    'update_goal: expected an object with `status`.',
  ]);
  expect((await server.client.request('thread/goal/get', { threadId })).goal).toMatchObject({
    objective: 'theirs',
    status: 'paused',
    tokensUsed: 0,
  });
});

test('the tools take the argument shapes that models know', async () => {
  const server = await withThread();
  await outputsOf(server, []);
  const tools = server.model.request(1).tools.filter(({ name }) => name.endsWith('_goal'));
  const shapes = tools.flatMap((tool) =>
    'parameters' in tool ? [[tool.name, tool.parameters]] : [],
  );
  const text = expect.any(String);
  const object = { type: 'object', additionalProperties: false };
  expect(shapes).toEqual([
    ['get_goal', { ...object, properties: {}, required: [] }],
    [
      'create_goal',
      {
        ...object,
        properties: {
          objective: { type: 'string', description: text },
          token_budget: { type: 'integer', description: text },
        },
        required: ['objective'],
      },
    ],
    [
      'update_goal',
      {
        ...object,
        properties: {
          status: { type: 'string', enum: ['complete', 'blocked', 'paused'], description: text },
        },
        required: ['status'],
      },
    ],
  ]);
});

test('an ephemeral thread has no goal, and its model has no goal tools', async () => {
  const server = await startServer({ model: new TestModel() });
  await server.client.request('thread/start', { ephemeral: true });
  expect(await outputsOf(server, [['get_goal', {}]])).toEqual([
    'There is no tool named get_goal. The tools are: exec_command, write_stdin, apply_patch, update_plan, request_user_input, view_image, spawn_agent, send_input, resume_agent, wait_agent, close_agent.',
  ]);
});
