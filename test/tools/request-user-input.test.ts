import { expect, test } from 'vitest';
import { answer, callThenEnd, PLAN_MODE, QUESTIONS, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import { TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { modelOutput } from './command-server.ts';

const METHOD = 'item/tool/requestUserInput';

async function asking(
  args: object = QUESTIONS,
  overrides: object = PLAN_MODE,
): Promise<TestServer & { turnId: string }> {
  const server = await startServer({
    model: new TestModel(...callThenEnd('request_user_input', args)),
  });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
    ...overrides,
  });
  return { ...server, turnId: turn.id };
}

test('in plan mode the user is asked, the thread is shown as waiting, and the model reads the answers', async () => {
  const server = await asking();
  const { client, turnId } = server;
  const asked = await question(client, METHOD);
  expect(asked).toEqual({
    id: asked.id,
    method: METHOD,
    params: {
      threadId: idOf(1),
      turnId,
      itemId: 'call_1',
      questions: [
        {
          id: 'q',
          header: 'Which',
          question: 'Which one?',
          isOther: true,
          isSecret: false,
          options: [{ label: 'A', description: 'the first' }],
        },
      ],
      isBlocking: true,
      autoResolutionMs: null,
    },
  });
  const waiting = { type: 'active', activeFlags: ['waitingOnUserInput'] };
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread.status).toEqual(
    waiting,
  );
  expect((await client.request('thread/list', {})).data.map(({ status }) => status)).toEqual([
    waiting,
  ]);
  answer(client, asked, { answers: { q: { answers: ['A', 'or B'] }, other: { answers: ['x'] } } });
  expect((await client.turnCompleted(turnId)).status).toBe('completed');
  expect(JSON.parse(modelOutput(server))).toEqual({ answers: { q: { answers: ['A', 'or B'] } } });
  expect(
    client
      .notifications('thread/status/changed')
      .map(({ status }) => ('activeFlags' in status ? status.activeFlags : status.type)),
  ).toEqual([[], ['waitingOnUserInput'], [], 'idle']);
  expect(client.notifications('serverRequest/resolved')).toEqual([
    { threadId: idOf(1), requestId: asked.id },
  ]);
});

test.each([
  [
    'an error',
    { error: { code: -32000, message: 'not now' } },
    /^The client answered with an error: not now$/,
  ],
  [
    'an answer that is malformed',
    { result: { answers: { q: 'A' } } },
    /^The client answered with an error: the answer is malformed: /,
  ],
  ['an answer to something else', { result: { answers: { other: { answers: ['A'] } } } }, null],
])('%s answers nothing, and the turn goes on', async (_, reply, note) => {
  const server = await asking();
  const { id } = await question(server.client, METHOD);
  server.client.send(JSON.stringify({ id, ...reply }));
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('completed');
  const noted = note === null ? {} : { note: expect.stringMatching(note) };
  expect(JSON.parse(modelOutput(server))).toEqual({ answers: {}, ...noted });
});

const [ONE] = QUESTIONS.questions;

test('a secret question is shown to clients as secret', async () => {
  const { client } = await asking({ questions: [{ ...ONE, isSecret: true }] });
  expect((await question(client, METHOD)).params).toMatchObject({
    questions: [{ ...ONE, isSecret: true }],
  });
});

test.each<[string, object, object, RegExp]>([
  ['in default mode', QUESTIONS, {}, /^request_user_input is unavailable in default mode/],
  ['without questions', { questions: [] }, PLAN_MODE, /`questions` must be a list of 1 to 3/],
  ['with no list', {}, PLAN_MODE, /`questions` must be a list of 1 to 3/],
  [
    'with four',
    { questions: ['a', 'b', 'c', 'd'].map((id) => ({ ...ONE, id })) },
    PLAN_MODE,
    /`questions` must be a list of 1 to 3/,
  ],
  [
    'with two of one id',
    { questions: [ONE, ONE] },
    PLAN_MODE,
    /each question needs an `id` of its own/,
  ],
  [
    'with a sentence as its id',
    { questions: [{ ...ONE, id: 'The user allows all' }] },
    PLAN_MODE,
    /`id` of a question has 1 to 64/,
  ],
  [
    'with an id in capitals',
    { questions: [{ ...ONE, id: 'ALLOW' }] },
    PLAN_MODE,
    /`id` of a question has 1 to 64/,
  ],
  [
    'with a long id',
    { questions: [{ ...ONE, id: 'a'.repeat(65) }] },
    PLAN_MODE,
    /`id` of a question has 1 to 64/,
  ],
  [
    'with no options',
    { questions: [{ ...ONE, options: [] }] },
    PLAN_MODE,
    /`options` must be a list of 1 to 10/,
  ],
  [
    'with a bare option',
    { questions: [{ ...ONE, options: ['A'] }] },
    PLAN_MODE,
    /`options` must be a list of 1 to 10 objects/,
  ],
  [
    'with a blank header',
    { questions: [{ ...ONE, header: ' ' }] },
    PLAN_MODE,
    /`header` must be a non-empty string/,
  ],
])('%s nobody is asked: the model is told what is wrong', async (_, args, overrides, problem) => {
  const server = await asking(args, overrides);
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('completed');
  expect(modelOutput(server)).toMatch(problem);
  expect(server.client.messages.filter(({ method }) => method === METHOD)).toEqual([]);
});
