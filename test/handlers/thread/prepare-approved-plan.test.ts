import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { asked, conversation, message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

test('thread/prepareApprovedPlan gives the model the plan, once and after a restart too, and the prompt that carries it out', async () => {
  const server = await startServer({ model: new TestModel(response(message('done'))) });
  await server.client.request('thread/start', {});
  const params = { threadId: idOf(1), markdown: '# Plan\n- one', attachmentPath: '/tmp/<plan>.md' };
  const { prompt } = await server.client.request('thread/prepareApprovedPlan', params);
  expect(prompt).toBe('Implement the approved plan.');
  const { client, model } = await server.restart();
  await client.request('thread/resume', { threadId: idOf(1) });
  await client.turn(idOf(1), prompt);
  const plan = `<approved_plan>
The user has approved this plan for the next turn, which asks for it. If the user asks for something else first, it is no longer approved. It replaces all plans that were approved before:

# Plan
- one
The plan is also in the file /tmp/&lt;plan&gt;.md.
</approved_plan>`;
  expect(conversation(model.request(1))).toEqual([asked(plan), asked(prompt)]);
});

test('thread/prepareApprovedPlan refuses an empty plan, one that is too long, an unknown thread, and a thread whose turn runs', async () => {
  const server = await startServer({ model: new TestModel(response([], [new Gate()])) });
  const { client } = server;
  await client.request('thread/start', {});
  const refusal = (markdown: string, threadId = idOf(1)) =>
    client.refusal('thread/prepareApprovedPlan', { threadId, markdown });
  expect((await refusal(' \n')).data.code).toBe('empty_plan');
  expect((await refusal('x'.repeat(1_048_577))).data.code).toBe('input_too_large');
  expect((await refusal('x', idOf(99))).data.code).toBe('thread_not_found');
  const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('hi') });
  expect(await refusal('x')).toEqual({
    code: -32600,
    message: 'cannot prepare a plan while a turn is in progress: interrupt it first',
    data: { code: 'turn_active', turnId: turn.id },
  });
  await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
  await client.turnCompleted(turn.id);
});
