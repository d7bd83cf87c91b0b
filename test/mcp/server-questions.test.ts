import { expect, test } from 'vitest';
import { PausableTimers } from '../../src/base/pausable-timers.ts';
import type { McpUser } from '../../src/mcp/mcp-user.ts';
import type { McpQuestion, McpRequest } from '../../src/mcp/messages/mcp-host.ts';
import { ServerQuestions } from '../../src/mcp/server-questions.ts';
import { FakeClock } from '../support/fake-clock.ts';

const NEVER = new AbortController().signal;
const DECLINED = { result: { action: 'decline' } };

/** The questions of one server, with the requests to it that are open. */
function openRequests(
  ...requests: { of: McpUser | null; op: McpRequest['op']; threadId?: string }[]
) {
  const questions = new ServerQuestions({ users: new Set() });
  for (const [index, { of, op, threadId }] of requests.entries())
    questions.begin(index + 1, {
      user: of,
      op,
      tag: threadId === undefined ? undefined : { threadId },
      timers: new PausableTimers(new FakeClock()),
      over: NEVER,
    });
  return questions;
}

/** A thread that says who it is. */
function threadOf(name: string): McpUser {
  return {
    root: `/${name}`,
    onState: () => {},
    onQuestion: async (_question, tag) => ({ result: { name, tag: (tag ?? null) as never } }),
  };
}

const question = (_meta: Record<string, string> = {}): McpQuestion => ({
  kind: 'elicitation',
  params: { message: '?', _meta },
});
const [a, b] = [threadOf('a'), threadOf('b')];
const call = (of: McpUser) => ({ of, op: 'callTool' as const, threadId: of.root });

test.each(['listTools', 'listResources', 'listResourceTemplates'] as const)(
  'a question without a known request is never taken for one in the course of %s',
  async (op) => {
    const questions = openRequests(call(a), { of: b, op }, { of: a, op });
    expect(await questions.answer(null, question(), NEVER)).toEqual({
      result: { name: 'a', tag: { threadId: '/a' } },
    });
  },
);

test.each([
  ['a call', call(b)],
  ['a resource that is being read', { of: b, op: 'readResource' as const }],
  ['a call for which nobody can be asked', { of: b, op: 'callTool' as const }],
])(
  'while a call of one thread is open and %s of another, a question that names neither is declined',
  async (_what, other) => {
    for (const questions of [openRequests(call(a), other), openRequests(other, call(a))])
      expect(await questions.answer(null, question(), NEVER)).toEqual(DECLINED);
  },
);

test('the thread that the question names is asked, if a call of it is open', async () => {
  const questions = openRequests(call(a), call(b));
  expect(await questions.answer(null, question({ threadId: '/a' }), NEVER)).toMatchObject({
    result: { name: 'a' },
  });
  expect(await questions.answer(null, question({ threadId: '/c' }), NEVER)).toEqual(DECLINED);
});

test('of several calls of one thread, the last one that can ask is taken', async () => {
  const questions = openRequests(call(a), { of: a, op: 'callTool' }, { of: a, op: 'readResource' });
  expect(await questions.answer(null, question(), NEVER)).toMatchObject({
    result: { tag: { threadId: '/a' } },
  });
});

test('the question of a request that has ended goes to no other', async () => {
  const questions = openRequests(call(a), call(b));
  questions.end(2);
  expect(await questions.answer(2, question(), NEVER)).toEqual(DECLINED);
  expect(await questions.answer(1, question(), NEVER)).toMatchObject({ result: { name: 'a' } });
});

test('the time of a call does not pass until all of its questions are answered', async () => {
  const clock = new FakeClock();
  const timers = new PausableTimers(clock);
  let isOver = false;
  timers.setTimer(() => (isOver = true), 1_000);
  const answers: (() => void)[] = [];
  const user: McpUser = {
    ...a,
    onQuestion: () => new Promise((resolve) => answers.push(() => resolve({ result: null }))),
  };
  const questions = new ServerQuestions({ users: new Set() });
  questions.begin(1, { user, op: 'callTool', tag: undefined, timers, over: NEVER });
  const [first, second] = [
    questions.answer(1, question(), NEVER),
    questions.answer(1, question(), NEVER),
  ];
  answers[0]?.();
  await first;
  clock.advance(5_000);
  expect(isOver).toBe(false);
  answers[1]?.();
  await second;
  clock.advance(1_000);
  expect(isOver).toBe(true);
});
