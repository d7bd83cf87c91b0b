import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { idOf } from '../support/counting-ids.ts';
import { agentItem, brief } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { text } from '../support/test-client.ts';
import {
  asked,
  calls,
  conversation,
  functionCall,
  message,
  response,
  said,
  TestModel,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

/** A turn in which the model calls tools and then sends a final message. */
async function turnWith(...events: ModelEvent[]): Promise<TestServer> {
  const server = await startServer({
    model: new TestModel(response(events), response(message('done'))),
  });
  await server.client.request('thread/start', {});
  expect(await server.client.turn(idOf(1), 'hi')).toMatchObject({
    status: 'completed',
    items: [agentItem('done')],
  });
  expect(server.model.requests).toHaveLength(2);
  return server;
}

/** The items after the user's message in the second request. */
function readBack({ model }: TestServer) {
  const [first, ...rest] = conversation(model.request(2));
  expect(first).toEqual(asked('hi'));
  return rest;
}

function output(value: string, callId = 'call_1') {
  return { type: 'function_call_output', call_id: callId, output: value };
}

const PLAN = {
  explanation: 'since',
  plan: [
    { step: 'look', status: 'completed' },
    { step: 'do', status: 'in_progress' },
    { step: 'check', status: 'pending' },
  ],
};

describe('the model reads why a call is invalid, and the turn goes on', () => {
  test('an unknown tool: the model reads which tools there are', async () => {
    const server = await turnWith(...functionCall('no_such_tool', { x: 1 }));
    expect(readBack(server)).toEqual([
      calls('no_such_tool', { x: 1 }),
      output(
        'There is no tool named no_such_tool. The tools are: exec_command, write_stdin, apply_patch, update_plan, request_user_input, view_image, spawn_agent, send_input, resume_agent, wait_agent, close_agent, get_goal, create_goal, update_goal.',
      ),
    ]);
  });

  test('arguments that are not JSON', async () => {
    const server = await turnWith(...functionCall('update_plan', '{"plan": ['));
    expect(readBack(server)).toEqual([
      calls('update_plan', '{"plan": ['),
      output('The arguments of update_plan are not valid JSON.'),
    ]);
  });

  test('arguments that are JSON of the wrong kind', async () => {
    const wrong: unknown[] = [
      null,
      5,
      'x',
      [],
      {},
      { plan: 'x' },
      { plan: [{ step: 1, status: 'pending' }] },
      { plan: [{ step: 'a', status: 'soon' }] },
    ];
    for (const args of wrong) {
      const server = await turnWith(...functionCall('update_plan', JSON.stringify(args)));
      expect(readBack(server)[1]).toEqual(
        output(expect.stringMatching(/^update_plan: .*`(?:plan|step)`/)),
      );
      expect(server.client.notifications('turn/plan/updated')).toEqual([]);
    }
  });

  test('an unknown freeform tool', async () => {
    const call = { type: 'custom_tool_call' as const, call_id: 'c1', name: 'nobody', input: 'x' };
    const server = await turnWith({ type: 'itemCompleted', item: call });
    expect(readBack(server)).toEqual([
      call,
      {
        type: 'custom_tool_call_output',
        call_id: 'c1',
        output:
          'There is no tool named nobody. The tools are: exec_command, write_stdin, apply_patch, update_plan, request_user_input, view_image, spawn_agent, send_input, resume_agent, wait_agent, close_agent, get_goal, create_goal, update_goal.',
      },
    ]);
  });
});

describe('update_plan', () => {
  test('announces the plan, and confirms it to the model', async () => {
    const server = await turnWith(...functionCall('update_plan', PLAN));
    const [turn] = server.client.notifications('turn/completed');
    expect(server.client.notifications('turn/plan/updated')).toEqual([
      {
        threadId: idOf(1),
        turnId: turn?.turn.id,
        explanation: 'since',
        plan: [
          { step: 'look', status: 'completed' },
          { step: 'do', status: 'inProgress' },
          { step: 'check', status: 'pending' },
        ],
      },
    ]);
    expect(readBack(server)).toEqual([calls('update_plan', PLAN), output('The plan is updated.')]);
  });

  test('takes a plan without an explanation', async () => {
    const server = await turnWith(...functionCall('update_plan', { plan: [] }));
    expect(server.client.notifications('turn/plan/updated')).toMatchObject([
      { explanation: null, plan: [] },
    ]);
  });
});

test('several calls in one response all get their outputs, in the order of the calls', async () => {
  const server = await turnWith(
    ...message('two things'),
    ...functionCall('update_plan', PLAN, { callId: 'a' }),
    ...functionCall('nobody', {}, { callId: 'b' }),
  );
  expect(readBack(server)).toEqual([
    said('two things'),
    calls('update_plan', PLAN, { callId: 'a' }),
    calls('nobody', {}, { callId: 'b' }),
    output('The plan is updated.', 'a'),
    output(expect.stringContaining('nobody'), 'b'),
  ]);
});

test('calls and their outputs are in the history after a restart', async () => {
  const server = await turnWith(...functionCall('update_plan', PLAN));
  const { client, model } = await server.restart();
  const { thread } = await client.request('thread/resume', { threadId: idOf(1) });
  expect(thread.turns.map(({ items }) => brief(items))).toEqual([['user: hi', 'agent: done']]);
  model.push(response(message('ok')));
  await client.turn(idOf(1), 'next');
  expect(conversation(model.request(3))).toEqual([
    asked('hi'),
    calls('update_plan', PLAN),
    output('The plan is updated.'),
    said('done'),
    asked('next'),
  ]);
});

test('a model that never stops calling is stopped after 1000 requests, and the turn fails', {
  tags: 'slow',
}, async () => {
  const model = new TirelessModel();
  const server = await startServer({ model });
  await server.client.request('thread/start', {});
  expect(await server.client.turn(idOf(1), 'hi')).toMatchObject({
    status: 'failed',
    error: {
      message: 'The turn asked the model 1000 times without coming to an end.',
      codexErrorInfo: 'other',
      additionalDetails: null,
    },
  });
  expect(model.count).toBe(1000);
});

/** Calls a tool in every response, and counts the requests. */
class TirelessModel extends TestModel {
  count = 0;

  override async *stream(): AsyncGenerator<ModelEvent> {
    this.count++;
    yield* functionCall('nobody', {});
    yield { type: 'completed', usage: null };
  }
}

test('after an interrupt before a call is complete, the model does not read a call without an output', async () => {
  const gate = new Gate();
  const server = await startServer({
    model: new TestModel(response(functionCall('update_plan', PLAN).slice(0, 1), [gate])),
  });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('hi'),
  });
  await gate.reached;
  await server.client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
  expect((await server.client.turnCompleted(turn.id)).status).toBe('interrupted');
  expect(server.client.notifications('turn/plan/updated')).toEqual([]);
  server.model.push(response(message('ok')));
  await server.client.turn(idOf(1), 'next');
  expect(conversation(server.model.request(2)).map(({ type }) => type)).toEqual([
    'message',
    'message',
    'message',
  ]);
});
