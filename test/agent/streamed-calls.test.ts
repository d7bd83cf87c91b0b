import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PromptItems } from '../../src/agent/prompt/prompt-items.ts';
import type { ModelEvent } from '../../src/model/model.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { answer, question } from '../support/asking.ts';
import { brief } from '../support/expected.ts';
import { Gate } from '../support/gate.ts';
import { runs } from '../support/runs.ts';
import { text } from '../support/test-client.ts';
import {
  asked,
  calls,
  commandCall,
  conversation,
  failed,
  functionCall,
  message,
  messageBegun,
  reasoning,
  response,
  retrying,
  type ScriptedResponse,
  said,
} from '../support/test-model.ts';
import type { TestServer } from '../support/test-server.ts';
import {
  commandServer,
  completed,
  done,
  modelOutput,
  says,
  THREAD,
} from '../tools/command-server.ts';
import { afterDeathOf } from './after-death-of.ts';
import { hookServer, prints } from './hooks/hook-server.ts';

const plan = (callId = 'call_1') => functionCall('update_plan', { plan: [] }, { callId });

/** The items of a request, as words: what somebody said, and the ids of calls and outputs. */
function words(items: readonly ResponseItem[]): string[] {
  return items.map((item) => {
    if (item.type === 'message')
      return item.content.map((part) => ('text' in part ? part.text : '')).join('');
    if (item.type === 'function_call') return `call ${item.call_id}`;
    return item.type === 'function_call_output' ? `output ${item.call_id}` : item.type;
  });
}

const asksFor = ({ model }: TestServer, count: number) => words(conversation(model.request(count)));

async function begin({ client }: TestServer, input = 'hi'): Promise<string> {
  return (await client.request('turn/start', { threadId: THREAD, input: text(input) })).turn.id;
}

/** Every request begins with the whole of the one before it. */
function expectExtending({ model }: TestServer, from = 1): void {
  for (let count = from + 1; count <= model.requests.length; count++) {
    const before = model.request(count - 1).input;
    expect(model.request(count).input.slice(0, before.length)).toEqual(before);
  }
}

test('a call begins while the model still responds, and its output comes behind the whole response', async () => {
  const gate = new Gate();
  const server = await commandServer([
    response(
      commandCall('echo early', 'a'),
      [gate],
      reasoning('hm'),
      message('meanwhile'),
      plan('b'),
    ),
    done,
    response(message('more')),
  ]);
  const turnId = await begin(server);
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
  gate.open();
  await server.client.turnCompleted(turnId);
  expect(asksFor(server, 2)).toEqual([
    'hi',
    'call a',
    'reasoning',
    'meanwhile',
    'call b',
    'output a',
    'output b',
  ]);
  expect(modelOutput(server, 'a')).toContain('early');
  await server.client.turn(THREAD, 'next');
  expectExtending(server);
});

test('a call that ends after the response runs on beside it', async () => {
  const gate = new Gate();
  const server = await commandServer([
    response(
      commandCall('echo up; read x', 'a'),
      [gate],
      message('meanwhile'),
      commandCall('echo b', 'b'),
    ),
    done,
  ]);
  const turnId = await begin(server);
  await says(server, 'up');
  gate.open();
  await server.client.turnCompleted(turnId);
  expect(asksFor(server, 2)).toEqual([
    'hi',
    'call a',
    'meanwhile',
    'call b',
    'output a',
    'output b',
  ]);
});

test('what was complete when the stream broke is kept: the retry has it, with the outputs of its calls, which run once', async () => {
  const server = await commandServer([
    [
      ...message('kept'),
      ...commandCall('echo ran >> log; cat log', 'a'),
      ...messageBegun('lost', { id: 'm2' }),
      retrying('cut'),
    ],
    // A model that repeats a call all the same.
    response(commandCall('echo ran >> log; cat log', 'a')),
    done,
  ]);
  const turn = await server.client.turn(THREAD, 'hi');
  expect(turn.status).toBe('completed');
  expect([asksFor(server, 2), asksFor(server, 3)]).toEqual(
    Array.from({ length: 2 }, () => ['hi', 'kept', 'call a', 'output a']),
  );
  expect(completed(server).map(({ aggregatedOutput }) => aggregatedOutput)).toEqual(['ran\n']);
  expect(server.client.notifications('error').map(({ willRetry }) => willRetry)).toEqual([true]);
  const { thread } = await server.client.request('thread/read', {
    threadId: THREAD,
    includeTurns: true,
  });
  expect(brief(thread.turns[0]?.items ?? [])).toEqual([
    'user: hi',
    'agent: kept',
    'commandExecution',
    'agent: done',
  ]);
});

test('a call with the same id and other arguments is another call', async () => {
  const server = await commandServer([
    [...commandCall('echo one'), retrying('cut')],
    response(commandCall('echo two')),
    done,
  ]);
  await server.client.turn(THREAD, 'hi');
  expect(completed(server).map(({ aggregatedOutput }) => aggregatedOutput)).toEqual([
    'one\n',
    'two\n',
  ]);
  expect(asksFor(server, 3)).toEqual([
    'hi',
    'call call_1',
    'output call_1',
    'call call_1',
    'output call_1',
  ]);
});

test('the retry waits for the calls, and an interrupt meanwhile ends both', async () => {
  const server = await commandServer([
    [...commandCall('echo up; exec sleep 1000'), retrying('cut')],
    done,
  ]);
  const turnId = await begin(server);
  await says(server, 'up');
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId });
  expect(await server.client.turnCompleted(turnId)).toMatchObject({ status: 'interrupted' });
  expect(server.model.requests).toHaveLength(1);
  await server.client.turn(THREAD, 'next');
  expect(asksFor(server, 2)).toEqual([
    'hi',
    'call call_1',
    'output call_1',
    expect.stringContaining('turn_interrupted'),
    'next',
  ]);
});

test('a message that was shown in part when the stream broke is continued, if the retry gives it', async () => {
  const server = await commandServer([
    [...plan('a'), ...messageBegun('Hello', { id: 'm1' }), retrying('cut')],
    response(message('Hello world', { id: 'm2' })),
  ]);
  await server.client.turn(THREAD, 'hi');
  const messages = server.client
    .notifications('item/started')
    .filter(({ item }) => item.type === 'agentMessage');
  expect(messages).toHaveLength(1);
  expect(server.client.notifications('item/agentMessage/delta').map(({ delta }) => delta)).toEqual([
    'Hello',
    ' world',
  ]);
});

test('the next request says which retries were used', async () => {
  const spent = { ofRequest: 1, ofStream: 2, nextWaitMs: 800, retryingMs: 600 };
  const broken: ModelEvent = {
    ...(retrying('cut') as Extract<ModelEvent, { type: 'retrying' }>),
    delayMs: 400,
    spent,
  };
  const server = await commandServer([[...plan(), broken], done, response(message('more'))]);
  const turnId = await begin(server);
  await server.clock.timerOf(400);
  expect(server.model.requests).toHaveLength(1);
  server.clock.advance(400);
  await server.client.turnCompleted(turnId);
  await server.client.turn(THREAD, 'next');
  expect(server.model.requests.map(({ retries }) => retries)).toEqual([
    undefined,
    spent,
    undefined,
  ]);
});

test('steering keeps what the model had finished; its calls run to their end, and come before the new input', async () => {
  const server = await commandServer([
    response(message('let me see'), commandCall('echo up; read x; echo one', 'a'), [new Gate()]),
    done,
    done,
  ]);
  const turnId = await begin(server);
  await says(server, 'up');
  await server.client.request('turn/steer', {
    threadId: THREAD,
    expectedTurnId: turnId,
    input: text('rather this'),
  });
  await server.client.turnCompleted(turnId);
  expect(asksFor(server, 2)).toEqual(['hi', 'let me see', 'call a', 'output a', 'rather this']);
  expect(modelOutput(server, 'a')).toContain('one');
  await server.client.turn(THREAD, 'next');
  expectExtending(server);
});

test('steering: what hooks have told about the calls so far comes before the new input, and is shown before it', async () => {
  const context = prints({
    hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'NOTE' },
  });
  const server = await hookServer({ PreToolUse: [{ matcher: 'Bash', command: context }] }, [
    response(commandCall('echo up; read x; echo one', 'a'), [new Gate()]),
    done,
    done,
  ]);
  const { thread } = await server.client.request('thread/start', { experimentalRawEvents: true });
  const { turn } = await server.client.request('turn/start', {
    threadId: thread.id,
    input: text('hi'),
  });
  await says(server, 'up');
  await server.client.request('turn/steer', {
    threadId: thread.id,
    expectedTurnId: turn.id,
    input: text('rather this'),
  });
  await server.client.turnCompleted(turn.id);
  expect(words(server.model.request(2).input).slice(-5)).toEqual([
    'hi',
    'call a',
    'output a',
    'NOTE',
    'rather this',
  ]);
  const raw = server.client.messages.flatMap(({ method, params }) =>
    method === 'rawResponseItem/completed' ? words([(params as { item: ResponseItem }).item]) : [],
  );
  expect(raw.filter((word) => word === 'NOTE' || word === 'rather this')).toEqual([
    'NOTE',
    'rather this',
  ]);
});

test('if the response fails for good, the turn fails once its calls have ended, and the next turn reads their outputs', async () => {
  const gate = new Gate();
  const server = await commandServer([
    [...commandCall('echo up; read x; echo one', 'a'), gate, failed('no more')],
    done,
  ]);
  const turnId = await begin(server);
  await says(server, 'up');
  gate.open();
  expect(await server.client.turnCompleted(turnId)).toMatchObject({
    status: 'failed',
    error: { message: 'no more' },
  });
  expect(completed(server)).toMatchObject([{ status: 'completed', aggregatedOutput: 'up\none\n' }]);
  await server.client.turn(THREAD, 'next');
  expect(asksFor(server, 2)).toEqual(['hi', 'call a', 'output a', 'next']);
});

test('an interrupt before the response has ended ends its calls, with an output each', async () => {
  const server = await commandServer([
    response(plan('a'), commandCall('echo up; exec sleep 1000', 'b'), [new Gate()]),
    done,
  ]);
  const turnId = await begin(server);
  await says(server, 'up');
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId });
  expect(await server.client.turnCompleted(turnId)).toMatchObject({ status: 'interrupted' });
  await server.client.turn(THREAD, 'next');
  expect(asksFor(server, 2)).toEqual([
    ...['hi', 'call a', 'call b', 'output a', 'output b'],
    ...[expect.stringContaining('turn_interrupted'), 'next'],
  ]);
  expect(modelOutput(server, 'b')).not.toContain('cut off');
});

test('an approval is asked for while the model still responds', async () => {
  const gate = new Gate();
  const config =
    'model = "test-model"\nmodel_provider = "test"\nsandbox_mode = "danger-full-access"\napproval_policy = "untrusted"\n\
[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
  const server = await commandServer(
    [response(commandCall('touch asked; echo ran', 'a'), [gate], message('meanwhile')), done],
    { config },
  );
  const turnId = await begin(server);
  answer(server.client, await question(server.client, 'item/commandExecution/requestApproval'), {
    decision: 'accept',
  });
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
  gate.open();
  await server.client.turnCompleted(turnId);
  expect(asksFor(server, 2)).toEqual(['hi', 'call a', 'meanwhile', 'output a']);
});

test('an exclusive call waits for the calls before it, and those behind it wait, whether the response has ended or not', async () => {
  const gate = new Gate();
  const patch = functionCall(
    'apply_patch',
    { input: '*** Begin Patch\n*** Add File: a\n+text\n*** End Patch' },
    { callId: 'patch' },
  );
  const server = await commandServer([
    response(commandCall('echo up; read x', 'a'), patch, commandCall('cat a', 'b'), [gate]),
    done,
  ]);
  const turnId = await begin(server);
  await server.client.waitFor(
    'item/completed',
    ({ item }) => item.type === 'commandExecution' && item.aggregatedOutput === 'text\n',
  );
  gate.open();
  await server.client.turnCompleted(turnId);
  const items = server.client.notifications('item/completed').map(({ item }) => item.type);
  expect(items).toEqual([
    'userMessage',
    'commandExecution',
    'fileChange',
    'commandExecution',
    'agentMessage',
  ]);
});

test('hooks refuse and change calls while the model still responds, and what they tell comes behind the response', async () => {
  const gate = new Gate();
  const context = (hookEventName: string, rest: object) =>
    prints({ hookSpecificOutput: { hookEventName, ...rest } });
  const server = await hookServer(
    {
      PreToolUse: [
        { matcher: 'Bash', command: context('PreToolUse', { additionalContext: 'NOTE' }) },
        { matcher: 'update_plan', command: 'echo not now >&2; exit 2' },
      ],
      PostToolUse: [{ matcher: 'Bash', command: prints({ decision: 'block', reason: 'CHANGED' }) }],
    },
    [response(commandCall('echo early', 'a'), plan('b'), [gate], message('meanwhile')), done],
  );
  const turnId = await begin(server);
  await server.client.waitFor('hook/completed', ({ run }) => run.eventName === 'postToolUse');
  gate.open();
  await server.client.turnCompleted(turnId);
  const last = words(server.model.request(2).input).slice(-4);
  expect(last).toEqual(['meanwhile', 'output a', 'output b', expect.stringContaining('NOTE')]);
  expect(modelOutput(server, 'a')).toContain('CHANGED');
  expect(modelOutput(server, 'b')).toContain('not now');
});

test('raw events show the outputs behind the response that they belong to', async () => {
  const gate = new Gate();
  const server = await commandServer([
    response(commandCall('echo early', 'a'), [gate], message('meanwhile')),
    done,
  ]);
  const { thread } = await server.client.request('thread/start', { experimentalRawEvents: true });
  const { turn } = await server.client.request('turn/start', {
    threadId: thread.id,
    input: text('hi'),
  });
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
  gate.open();
  await server.client.turnCompleted(turn.id);
  const raw = server.client.messages.flatMap(({ method, params }) => {
    if (method === 'rawResponse/completed') return ['response'];
    return method === 'rawResponseItem/completed'
      ? words([(params as { item: ResponseItem }).item])
      : [];
  });
  expect(raw.slice(raw.indexOf('hi'))).toEqual([
    'hi',
    'call a',
    'meanwhile',
    'response',
    'output a',
    'done',
    'response',
  ]);
});

test('a kill in mid-response: the calls that had ended have their outputs, at the same place ever after', async () => {
  const server = await commandServer([
    response(
      commandCall('echo early', 'a'),
      message('meanwhile'),
      commandCall('echo up; exec sleep 1000', 'b'),
      [new Gate()],
    ),
  ]);
  const turnId = await begin(server);
  await says(server, 'up');
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
  const next = await afterDeathOf(server);
  await next.client.request('thread/resume', { threadId: THREAD });
  next.model.push(done, done);
  await next.client.turn(THREAD, 'next');
  expect(asksFor(next, 1)).toEqual([
    ...['hi', 'call a', 'meanwhile', 'call b', 'output a', 'output b'],
    ...[expect.stringContaining('turn_interrupted'), 'next'],
  ]);
  expect(modelOutput(next, 'a')).toContain('early');
  await next.client.turn(THREAD, 'again');
  expectExtending(next);
  await server.client.request('turn/interrupt', { threadId: THREAD, turnId });
});

test('the calls of a review begin while its model still responds', async () => {
  const gate = new Gate();
  const server = await commandServer([
    response(
      functionCall('exec_command', { cmd: 'echo early', login: false }, { callId: 'a' }),
      [gate],
      message('meanwhile'),
    ),
    response(message('{"findings": []}')),
    response(message('thanks')),
  ]);
  const { turn } = await server.client.request('review/start', {
    threadId: THREAD,
    target: { type: 'custom', instructions: 'Look.' },
    delivery: 'inline',
  });
  await server.client.waitFor('item/completed', ({ item }) => item.type === 'commandExecution');
  gate.open();
  await server.client.turnCompleted(turn.id);
  expect(asksFor(server, 2).slice(-3)).toEqual(['call a', 'meanwhile', 'output a']);
  await server.client.turn(THREAD, 'next');
  expect(JSON.stringify(server.model.request(3).input)).not.toContain('early');
});

/**
 * A part of a response: a message, reasoning, a call, or a wait until the calls so far have run.
 */
type Word = 'm' | 'r' | 'c' | 'g';

test('however responses are cut and whenever calls end, each request extends the one before, and calls run once, with their outputs in order', {
  tags: 'seeded',
}, async () => {
  const word = fc.constantFrom<Word>('m', 'r', 'c', 'g');
  const attempts = fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(attempts, fc.boolean(), async (all, breaks) => {
      let number = 0;
      const expected = new PromptItems();
      expected.add(asked('hi'));
      const streams: ScriptedResponse[] = all.map((parts) => () => stream(parts));
      const server = await commandServer([...streams, done]);
      const ran = () => server.client.notifications('turn/plan/updated').length;
      async function* stream(parts: Word[]): AsyncGenerator<ModelEvent> {
        const outputs: ResponseItem[] = [];
        for (const part of parts) {
          if (part === 'g') await expect.poll(ran, { interval: 1 }).toBe(callsOf(expected));
          else yield* events(part, `${number++}`, { expected, outputs });
        }
        for (const output of outputs) expected.add(output);
        yield breaks ? retrying('cut') : { type: 'completed', usage: null };
      }
      await server.client.turn(THREAD, 'hi');
      expect(ran()).toBe(callsOf(expected));
      const asks = server.model.requests.length;
      if (asks > all.length) expected.add(said('done'));
      expected.add(asked('next'));
      server.model.clear();
      server.model.push(done);
      await server.client.turn(THREAD, 'next');
      expectExtending(server);
      expect(asksFor(server, asks + 1)).toEqual(words(expected.list()));
      await server.close();
    }),
    { numRuns: runs(30) },
  );
});

function callsOf(prompt: PromptItems): number {
  return prompt.list().filter(({ type }) => type === 'function_call').length;
}

/** The events of a part, whose items are added to what is expected. */
function events(
  part: Exclude<Word, 'g'>,
  id: string,
  { expected, outputs }: { expected: PromptItems; outputs: ResponseItem[] },
): readonly ModelEvent[] {
  if (part === 'm') {
    expected.add(said(id));
    return message(id, { id });
  }
  if (part === 'r') {
    expected.add({ type: 'reasoning', summary: [] });
    return reasoning(id, { id });
  }
  expected.add(calls('update_plan', { plan: [] }, { callId: id }));
  outputs.push({ type: 'function_call_output', call_id: id, output: '' });
  return plan(id) as ModelEvent[];
}
