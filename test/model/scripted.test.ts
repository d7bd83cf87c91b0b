import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { ModelEvent, ModelRequest } from '../../src/model/model.ts';
import {
  createScriptedModel,
  type ScriptedModelOptions,
} from '../../src/model/script/create-scripted-model.ts';
import type { ModelScript } from '../../src/protocol/generated/model-script.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { asked, completedItems } from '../support/test-model.ts';
import { collect, never, request } from './provider-server.ts';

const called = (name: string, callId: string, output: string): ResponseItem[] => [
  { type: 'function_call', call_id: callId, name, arguments: '{}' },
  { type: 'function_call_output', call_id: callId, output },
];

/** A model of the script and a question to it: a text of the user's, or a whole input. */
function scripted(script: string | ModelScript, options: ScriptedModelOptions = {}) {
  const model = createScriptedModel(script, { clock: new FakeClock(), ...options });
  const ask = (
    input: string | ResponseItem[] = 'hi',
    changes: Partial<ModelRequest> = {},
    signal = never,
  ) =>
    collect(
      model.stream(
        { ...request, input: typeof input === 'string' ? [asked(input)] : input, ...changes },
        signal,
      ),
    );
  return {
    model,
    ask,
    said: async (...args: Parameters<typeof ask>) => answerText(await ask(...args)),
  };
}

/** The one message of an answer, or the error's text. */
function answerText(events: ModelEvent[]): string {
  const texts = completedItems(events).flatMap((item) =>
    item.type === 'message' ? item.content.map((part) => ('text' in part ? part.text : '')) : [],
  );
  const last = events.at(-1);
  return [...texts, ...(last?.type === 'failed' ? [last.error.message] : [])].join(' | ');
}

function deltas(events: ModelEvent[]): string[] {
  return events.flatMap((event) => ('delta' in event ? [event.delta] : []));
}

const NO_USAGE = { usage: 'none' } as const;

describe('what a step gives', () => {
  test('a text is a message, a delta for each word', async () => {
    const { ask, model } = scripted('- Hello, dear world', {});
    const item = { type: 'message', id: 'msg_1_1', role: 'assistant' };
    const input = Buffer.byteLength(JSON.stringify([request.instructions, [asked('hi')], []]));
    expect(await ask()).toEqual([
      { type: 'started' },
      { type: 'itemStarted', item: { ...item, content: [] } },
      { type: 'textDelta', itemId: 'msg_1_1', delta: 'Hello,' },
      { type: 'textDelta', itemId: 'msg_1_1', delta: ' dear' },
      { type: 'textDelta', itemId: 'msg_1_1', delta: ' world' },
      {
        type: 'itemCompleted',
        item: { ...item, content: [{ type: 'output_text', text: 'Hello, dear world' }] },
      },
      {
        type: 'completed',
        usage: {
          inputTokens: Math.ceil(input / 4),
          cachedInputTokens: 0,
          cacheWriteInputTokens: 0,
          outputTokens: 5,
          reasoningOutputTokens: 0,
          totalTokens: Math.ceil(input / 4) + 5,
        },
      },
    ]);
    expect(model.report()).toBeNull();
  });

  test('reasoning: parts of a summary, and raw', async () => {
    const { ask } = scripted([
      {
        reply: { reasoning: { summary: ['one', 'two'], raw: 'the whole' }, chunk: 'all' },
        ...NO_USAGE,
      },
    ]);
    expect(await ask()).toEqual([
      { type: 'started' },
      { type: 'itemStarted', item: { type: 'reasoning', id: 'rs_1_1', summary: [] } },
      { type: 'reasoningDelta', itemId: 'rs_1_1', index: 0, delta: 'the whole' },
      { type: 'reasoningSummaryPart', itemId: 'rs_1_1', index: 0 },
      { type: 'reasoningSummaryDelta', itemId: 'rs_1_1', index: 0, delta: 'one' },
      { type: 'reasoningSummaryPart', itemId: 'rs_1_1', index: 1 },
      { type: 'reasoningSummaryDelta', itemId: 'rs_1_1', index: 1, delta: 'two' },
      {
        type: 'itemCompleted',
        item: {
          type: 'reasoning',
          id: 'rs_1_1',
          summary: [
            { type: 'summary_text', text: 'one' },
            { type: 'summary_text', text: 'two' },
          ],
          content: [{ type: 'reasoning_text', text: 'the whole' }],
        },
      },
      { type: 'completed', usage: null },
    ]);
  });

  test('calls: arguments as an object or as they are, a text for a custom tool, a plan, an id', async () => {
    const { ask } = scripted([
      [
        { call: 'one', arguments: { b: 1, a: [null] } },
        { call: 'two', arguments: '{broken', id: 'my_id' },
        { call: 'three' },
        { call: 'apply_patch', input: '*** Begin' },
        { plan: { Look: 'completed', Write: 'pending' }, explanation: 'since' },
        { item: { type: 'web_search_call', status: 'completed' } },
      ],
    ]);
    expect(completedItems(await ask())).toEqual([
      {
        type: 'function_call',
        id: 'fc_1_1',
        call_id: 'call_fc_1_1',
        name: 'one',
        arguments: '{"b":1,"a":[null]}',
      },
      { type: 'function_call', id: 'fc_1_2', call_id: 'my_id', name: 'two', arguments: '{broken' },
      {
        type: 'function_call',
        id: 'fc_1_3',
        call_id: 'call_fc_1_3',
        name: 'three',
        arguments: '{}',
      },
      {
        type: 'custom_tool_call',
        id: 'ctc_1_4',
        call_id: 'call_ctc_1_4',
        name: 'apply_patch',
        input: '*** Begin',
      },
      {
        type: 'function_call',
        id: 'fc_1_5',
        call_id: 'call_fc_1_5',
        name: 'update_plan',
        arguments:
          '{"explanation":"since","plan":[{"step":"Look","status":"completed"},{"step":"Write","status":"pending"}]}',
      },
      { type: 'web_search_call', status: 'completed' },
    ]);
  });

  test('usage as given', async () => {
    const { ask } = scripted([
      { reply: 'x', usage: { input: 10, cached: 4, output: 7, reasoning: 2 } },
    ]);
    expect((await ask()).at(-1)).toEqual({
      type: 'completed',
      usage: {
        inputTokens: 10,
        cachedInputTokens: 4,
        cacheWriteInputTokens: 0,
        outputTokens: 7,
        reasoningOutputTokens: 2,
        totalTokens: 17,
      },
    });
  });

  test.each([
    ['chunk: 1', ['👩', 'é', '𝔘', 'x']],
    ['chunk: 3', ['👩é𝔘', 'x']],
    ['chunk: 100', ['👩é𝔘x']],
    ['chunk: all', ['👩é𝔘x']],
    ['chunk: word', ['👩é𝔘x']],
  ])('%s cuts between whole characters', async (chunk, expected) => {
    const { ask } = scripted(`{ responses: [ 👩é𝔘x, { message: 👩é𝔘x, chunk: all } ], ${chunk} }`);
    expect(deltas(await ask())).toEqual(expected);
    expect(deltas(await ask())).toEqual(['👩é𝔘x']);
  });

  test('deltas as they are written, and a phase', async () => {
    const { ask } = scripted([{ message: ['Hel', 'lo', ' ', 'you'], phase: 'commentary' }]);
    const events = await ask();
    expect(deltas(events)).toEqual(['Hel', 'lo', ' ', 'you']);
    expect(completedItems(events)).toEqual([
      {
        type: 'message',
        id: 'msg_1_1',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello you' }],
        phase: 'commentary',
      },
    ]);
  });
});

describe('time goes by the clock', () => {
  test('delay lies between deltas, wait before what follows; nothing else waits', async () => {
    const clock = new FakeClock();
    const { ask } = scripted(
      'delay: 20\nresponses:\n- [a b c, {wait: 500}, {message: d e, delay: 0}]',
      { clock },
    );
    const start = clock.now();
    const events = ask();
    for (const ms of [20, 20, 500]) {
      await clock.timerOf(ms);
      clock.advance(ms);
    }
    expect(deltas(await events)).toEqual(['a', ' b', ' c', 'd', ' e']);
    expect(clock.now() - start).toBe(540);
  });

  test.each([['hang: true'], ['wait: 1000'], ['message: a b\n  delay: 1000']])(
    '%s ends with an abort, and leaves nothing',
    async (step) => {
      const clock = new FakeClock();
      const abort = new AbortController();
      const model = createScriptedModel(`- ${step}`, { clock });
      const events = model
        .stream({ ...request, input: [asked('hi')] }, abort.signal)
        [Symbol.asyncIterator]();
      expect((await events.next()).value).toEqual({ type: 'started' });
      const rest = collect({ [Symbol.asyncIterator]: () => events });
      if (step !== 'hang: true') await clock.timerOf(1000);
      abort.abort();
      expect((await rest).map(({ type }) => type)).not.toContain('completed');
      expect(clock.timers).toEqual([]);
      expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
      expect(model.report()).toBeNull();
    },
  );

  test('a request that was given up before it began uses up nothing', async () => {
    const { ask, said } = scripted('- one');
    expect(await ask('hi', {}, AbortSignal.abort())).toEqual([]);
    expect(await said()).toBe('one');
  });
});

describe('errors', () => {
  const failed = async (script: string) => (await scripted(script).ask()).at(-1);

  test.each([
    [
      'error: usageLimitExceeded',
      'The scripted model could not answer: the script fails with usageLimitExceeded.',
      'usageLimitExceeded',
      null,
    ],
    [
      '{error: serverOverloaded, text: Come back., details: d}',
      'Come back.',
      'serverOverloaded',
      'd',
    ],
    [
      'error: responseStreamDisconnected',
      'The scripted model could not answer: the script fails with responseStreamDisconnected.',
      { responseStreamDisconnected: { httpStatusCode: null } },
      null,
    ],
    [
      '{error: 429, text: Too many}',
      'The scripted model answered HTTP 429. Too many.',
      { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
      null,
    ],
    ['error: 500', 'The scripted model answered HTTP 500.', 'internalServerError', null],
    [
      'cut: true',
      'The scripted model ended its stream before the response was complete.',
      'other',
      null,
    ],
  ])('%s', async (step, message, codexErrorInfo, additionalDetails) => {
    expect(await failed(`- ${step}`)).toEqual({
      type: 'failed',
      error: { message, codexErrorInfo, additionalDetails },
    });
  });

  test('what is retried is told, and the next response answers', async () => {
    const clock = new FakeClock();
    const { ask, model } = scripted(
      '- [a, {cut: true, retry: 250}]\n- {error: 503, retry: true}\n- done',
      { clock },
    );
    const events = ask();
    await clock.timerOf(250);
    clock.advance(250);
    await clock.timerOf(0);
    clock.advance(0);
    const cut = 'The scripted model ended its stream before the response was complete.';
    expect(
      (await events).filter(({ type }) => type !== 'textDelta' && type !== 'itemStarted'),
    ).toMatchObject([
      { type: 'started' },
      { type: 'itemCompleted', item: { id: 'msg_1_1' } },
      {
        type: 'retrying',
        delayMs: 250,
        error: {
          message: cut,
          codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: null } },
          additionalDetails: 'Retry 1, in 0.25 s.',
        },
      },
      { type: 'started' },
      {
        type: 'retrying',
        delayMs: 0,
        error: {
          codexErrorInfo: { responseStreamDisconnected: { httpStatusCode: 503 } },
          additionalDetails: 'Retry 2, in 0 s.',
        },
      },
      { type: 'started' },
      { type: 'itemCompleted', item: { id: 'msg_1_2', content: [{ text: 'done' }] } },
      { type: 'completed' },
    ]);
    expect(model.report()).toBeNull();
  });

  test('a retry that nothing answers fails', async () => {
    const clock = new FakeClock();
    const events = scripted('- {cut: true, retry: 1}', { clock }).ask();
    await clock.timerOf(1);
    clock.advance(1);
    expect(answerText(await events)).toContain(
      'request 2 (thread 1, turn 1). All responses are used up.',
    );
  });
});

describe('which response answers', () => {
  test('in order, each once', async () => {
    const { said, model } = scripted('- one\n- two\n- reply: three\n  times: 2');
    for (const expected of ['one', 'two', 'three', 'three']) expect(await said()).toBe(expected);
    expect(model.report()).toBeNull();
    expect(await said()).toMatch(/^The model script has no response for request 5/);
  });

  test('without a match: in its turn, when all before it that has to come has come', async () => {
    const { said } = scripted(
      '- A\n- {match: {user: b}, reply: B}\n- {match: {user: x}, reply: X, optional: true}\n- C\n- {match: {user: d}, reply: D}',
    );
    expect(await said('a')).toBe('A');
    expect(await said('c')).toContain(
      'expected response 2 (line 2)\n  - user: text that contains "b"\n  + user: "c"\n  or response 3 (line 3)',
    );
    expect(await said('d')).toBe('D');
    expect(await said('b')).toBe('B');
    expect(await said('c')).toBe('C');
    expect(await said('x')).toBe('X');
  });

  test('with a match: whenever it matches; of several the first', async () => {
    const { said } = scripted(
      '- {match: {user: b}, reply: B}\n- {match: {user: /^/}, reply: other, times: any}\n- {match: {user: c}, reply: never}',
    );
    expect(await said('a')).toBe('other');
    expect(await said('b')).toBe('B');
    expect(await said('b')).toBe('other');
    expect(await said('c')).toBe('other');
  });

  const history = [
    asked('# AGENTS.md instructions for /x'),
    asked('<environment_context>'),
    asked('first'),
    asked('second text'),
  ];
  const after = [...history, ...called('update_plan', 'c1', 'The plan is updated.')];
  const custom: ResponseItem[] = [
    ...history,
    { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'patched' },
  ];
  const tool = { type: 'function' as const, name: 'update_plan', description: '', parameters: {} };

  test.each<[string, boolean, ResponseItem[], Partial<ModelRequest>]>([
    ['user: second', true, history, {}],
    ['user: first', false, history, {}],
    ['user: /^SECOND/i', true, history, {}],
    ['user: /^text/', false, history, {}],
    ['user: {is: second text}', true, history, {}],
    ['user: {is: second}', false, history, {}],
    ['user: /x/y.z', false, history, {}],
    ['user: /x/y.z', true, [asked('see /x/y.z')], {}],
    ['user: /second/g', true, history, {}],
    ['prompt: be brief', true, history, {}],
    ['prompt: AGENTS.md', true, history, {}],
    ['prompt: The plan is', true, after, {}],
    ['prompt: The plan is', false, history, {}],
    ['output: updated', true, after, {}],
    ['output: /^patched$/', true, custom, {}],
    ['output: updated', false, history, {}],
    ['output: updated', false, [...after, asked('third')], {}],
    ['tool: update_plan', true, after, {}],
    ['tool: apply_patch', true, custom, {}],
    ['tool: update_plan', false, history, {}],
    ['calls: 0', true, history, {}],
    ['calls: 0', false, after, {}],
    ['calls: 1', true, after, {}],
    ['model: m', true, history, {}],
    ['model: m', false, history, { model: 'm2' }],
    ['model: /^m/', true, history, { model: 'm2' }],
    ['tools: [update_plan]', true, history, { tools: [tool] }],
    ['tools: [update_plan, shell]', false, history, { tools: [tool] }],
    ['tools: []', true, history, {}],
    ['tools: []', false, history, { tools: [tool] }],
    ['turn: 2', true, history, {}],
    ['turn: 1', false, history, {}],
    ['thread: 1', true, history, {}],
    ['thread: 2', false, history, {}],
    ['request: 1', true, history, {}],
    ['request: 2', false, history, {}],
    ['user: second, turn: 2', true, history, {}],
    ['user: second, turn: 3', false, history, {}],
  ])('match: %s is %s of this request', async (match, holds, input, changes) => {
    const { said } = scripted(`- reply: yes it does\n  match: { ${match} }`);
    expect((await said(input, changes)) === 'yes it does').toBe(holds);
  });

  test('threads are told apart in the order in which they come', async () => {
    const { said } = scripted(
      '- {match: {thread: 2}, reply: second, times: 2}\n- {match: {thread: 1}, reply: first}',
    );
    expect(await said('a', { promptCacheKey: 't1' })).toBe('first');
    expect(await said('a', { promptCacheKey: 't2' })).toBe('second');
    expect(await said('b', { promptCacheKey: 't2' })).toBe('second');
  });

  test('strict order: only the next may answer; what is optional or was given already may be passed over', async () => {
    const { said, model } = scripted(`
order: strict
responses:
  - { match: { user: a }, reply: A, times: any }
  - { match: { user: x }, reply: X, optional: true }
  - { match: { user: b }, reply: B }
  - { match: { user: c }, reply: C }
`);
    expect(await said('b')).toContain(
      'expected response 1 (line 4)\n  - user: text that contains "a"\n  + user: "b"',
    );
    expect(await said('a')).toBe('A');
    expect(await said('a')).toBe('A');
    expect(await said('c')).toContain('no response');
    expect(await said('b')).toBe('B');
    expect(await said('a')).toContain('expected response 4');
    expect(await said('c')).toBe('C');
    expect(model.report()).toContain('3 requests without a response:');
  });
});

describe('the end of a run', () => {
  const script = `
- { name: greeting, match: { user: hello, calls: 0 }, reply: Hello. }
- { match: { user: { is: bye } }, reply: Bye., times: 2 }
- { reply: maybe, match: { user: never }, optional: true }
- { match: { tool: update_plan, turn: 1 }, reply: more, times: any }
`;

  test('a request without a response fails with what was expected and what came', async () => {
    const log = new RecordingLog();
    const { ask } = scripted(script, { log });
    expect(await ask([asked('helo'), ...called('shell', 'c', 'ok')])).toEqual([
      { type: 'started' },
      {
        type: 'failed',
        error: {
          message: `The model script has no response for request 1 (thread 1, turn 1).
  expected response 1 "greeting" (line 2)
  - user: text that contains "hello"
  + user: "helo"
  - calls: 0
  + calls: 1
  or response 2 (line 3)
  - user: "bye"
  + user: "helo"
  or response 3 (line 4)
  - user: text that contains "never"
  + user: "helo"
  and 1 more`,
          codexErrorInfo: 'other',
          additionalDetails: null,
        },
      },
    ]);
    expect(log.warnings()).toEqual(['no response in the model script matches a request']);
    expect(JSON.stringify(log.lines)).not.toContain('helo');
  });

  test('the report tells requests without a response and responses not used, and assertFollowed throws it', async () => {
    const { said, model } = scripted(script, { file: 'talk.yaml' });
    await said('bye');
    await said('what?');
    const report = `the run did not follow talk.yaml
1 request without a response:
  request 2 (thread 1, turn 1).
    expected response 1 "greeting" (line 2)
    - user: text that contains "hello"
    + user: "what?"
    or response 2 (line 3)
    - user: "bye"
    + user: "what?"
    or response 3 (line 4)
    - user: text that contains "never"
    + user: "what?"
    and 1 more
3 responses not used:
  response 1 "greeting" (line 2)
    - user: text that contains "hello"
    - calls: 0
  response 2 (line 3), used 1 of 2 times
    - user: "bye"
  response 4 (line 5)
    - tool: update_plan
    - turn: 1`;
    expect(model.report()).toBe(report);
    expect(() => model.assertFollowed()).toThrow(new Error(report));
  });

  test('a report is bounded', async () => {
    const { said, model } = scripted(
      Array.from({ length: 30 }, () => ({ match: { user: 'no' }, reply: 'x' })),
    );
    for (let index = 0; index < 30; index++) await said('y'.repeat(10_000));
    expect(model.report()?.match(/^ {2}and 10 more$/gm)).toHaveLength(2);
    expect(model.report()?.length).toBeLessThan(60_000);
  });
});

test('the same script and requests give the same events', async () => {
  const script = '- [{reasoning: a b}, {call: one}, c]\n- {match: {user: x}, reply: d, times: any}';
  const run = async () => {
    const { ask } = scripted(script);
    return [await ask(), await ask('x'), await ask('y'), await ask('x', { promptCacheKey: 't2' })];
  };
  expect(await run()).toEqual(await run());
});

test('a long text leaves other work its turns', async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const events = await scripted([{ message: 'ab '.repeat(10_000) }]).ask();
  clearImmediate(immediate);
  expect(deltas(events).length).toBeGreaterThanOrEqual(10_000);
  expect(turns).toBeGreaterThan(100);
});
