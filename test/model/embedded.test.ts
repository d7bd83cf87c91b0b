import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createEmbeddedModel } from '../../src/model/embedded/create-embedded-model.ts';
import type { ModelEvent } from '../../src/model/model.ts';
import type { ResponseItem } from '../../src/protocol/generated/types.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { asked, completedItems } from '../support/test-model.ts';
import { collect, never, request } from './provider-server.ts';

const output = (callId: string, text: string): ResponseItem => ({
  type: 'function_call_output',
  call_id: callId,
  output: text,
});

const ask = (...input: ResponseItem[]) =>
  collect(createEmbeddedModel({ clock: new FakeClock() }).stream({ ...request, input }, never));
const messageTexts = (events: ModelEvent[]) =>
  completedItems(events).flatMap((item) =>
    item.type === 'message' ? item.content.map((part) => ('text' in part ? part.text : '')) : [],
  );
const called = (events: ModelEvent[]) =>
  completedItems(events).filter((item) => item.type === 'function_call');

test('an answer streams reasoning and a message that shows what was written and how to ask for more', async () => {
  const events = await ask(asked('Hello there'));
  expect(
    events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]),
  ).toEqual([
    'started',
    'itemStarted',
    'reasoningSummaryPart',
    'reasoningSummaryDelta',
    'itemCompleted',
    'itemStarted',
    'textDelta',
    'itemCompleted',
    'completed',
  ]);
  const text = events.map((event) => (event.type === 'textDelta' ? event.delta : '')).join('');
  expect(messageTexts(events)).toEqual([text]);
  expect(text).toContain('I am the embedded model');
  expect(text).toContain('You wrote: "Hello there"');
  expect(text).toContain('call NAME');
});

test('the same input gets the same events', async () => {
  const input = [asked('think a b\nrepeat 3 x\ncall t {"a":1}')];
  expect(await ask(...input)).toEqual(await ask(...input));
});

test('say is exactly that message, and its usage follows from its bytes', async () => {
  const events = await ask(asked('say  Grüße,  Welt '));
  const item = { type: 'message', id: 'msg_1_1', role: 'assistant' };
  const input = Buffer.byteLength(
    JSON.stringify([request.instructions, [asked('say  Grüße,  Welt ')], []]),
  );
  const usage = {
    inputTokens: Math.ceil(input / 4),
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 4,
    reasoningOutputTokens: 0,
  };
  expect(events).toEqual([
    { type: 'started' },
    { type: 'itemStarted', item: { ...item, content: [] } },
    { type: 'textDelta', itemId: 'msg_1_1', delta: 'Grüße,' },
    { type: 'textDelta', itemId: 'msg_1_1', delta: '  Welt' },
    {
      type: 'itemCompleted',
      item: { ...item, content: [{ type: 'output_text', text: 'Grüße,  Welt' }] },
    },
    { type: 'completed', usage: { ...usage, totalTokens: usage.inputTokens + 4 } },
  ]);
});

test('think is reasoning, and a message follows', async () => {
  const events = await ask(asked('think first this'));
  expect(completedItems(events)[0]).toEqual({
    type: 'reasoning',
    id: 'rs_1_1',
    summary: [{ type: 'summary_text', text: 'first this' }],
  });
  expect(messageTexts(events)).toHaveLength(1);
});

test('calls are made in runs, and what follows them comes after their outputs', async () => {
  const script = asked(
    'say before\ncall one {"a": 1}\ncall two {}\nthink between\ncall three {}\nsay after',
  );
  const first = await ask(script);
  expect(messageTexts(first)).toEqual(['before']);
  expect(called(first)).toEqual([
    {
      type: 'function_call',
      id: 'fc_1_2',
      call_id: 'call_fc_1_2',
      name: 'one',
      arguments: '{"a": 1}',
    },
    { type: 'function_call', id: 'fc_1_3', call_id: 'call_fc_1_3', name: 'two', arguments: '{}' },
  ]);
  const soFar = [
    script,
    ...completedItems(first),
    output('call_fc_1_2', 'x'),
    output('call_fc_1_3', 'y'),
  ];
  const second = await ask(...soFar);
  expect(completedItems(second).map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
  expect(called(second)).toMatchObject([{ name: 'three' }]);
  const last = await ask(...soFar, ...completedItems(second), output('call_fc_6_2', 'z'));
  expect(messageTexts(last)).toEqual(['after']);
  expect(called(last)).toEqual([]);
});

test('without more to do after a call, the message quotes the outputs, shortened, in each of their forms', async () => {
  const script = asked('call one {}\ncall two {}\ncall three {}\ncall four {}');
  const outputs = [
    `${'a'.repeat(399)}😀`,
    [{ type: 'input_text', text: 'part' }],
    { body: 'body', success: false },
  ];
  const events = await ask(
    script,
    ...completedItems(await ask(script)),
    ...outputs.map(
      (each, index): ResponseItem => ({
        type: 'function_call_output',
        call_id: `call_fc_1_${index + 1}`,
        output: each as string,
      }),
    ),
  );
  expect(messageTexts(events)).toEqual([
    `one answered: "${'a'.repeat(399)}…"\n\ntwo answered: "part"\n\nthree answered: "body"\n\nfour answered: "nothing"`,
  ]);
});

test('a message that is context is not a person’s, and a later message starts a new script', async () => {
  const start = [
    asked('call one {}'),
    ...completedItems(await ask(asked('call one {}'))),
    output('call_fc_1_1', 'x'),
  ];
  expect(messageTexts(await ask(...start, asked('<environment_context>…')))).toEqual([
    'one answered: "x"',
  ]);
  expect(messageTexts(await ask(...start, asked('say new')))).toEqual(['new']);
});

test('repeat gives that many deltas without holding up other work', async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  const events = await ask(asked('repeat 10000 ab'));
  clearImmediate(immediate);
  expect(events.filter(({ type }) => type === 'textDelta')).toHaveLength(10_000);
  expect(messageTexts(events)).toEqual(['ab '.repeat(10_000)]);
  expect(turns).toBeGreaterThan(100);
});

test('fail ends in the error that a provider’s code stands for', async () => {
  expect(await ask(asked('think x\nfail rate_limit_exceeded\nsay never'))).toMatchObject([
    { type: 'started' },
    { type: 'itemStarted' },
    { type: 'reasoningSummaryPart' },
    { type: 'reasoningSummaryDelta' },
    { type: 'itemCompleted' },
    {
      type: 'failed',
      error: {
        message: 'The embedded model could not answer: asked to fail with rate_limit_exceeded.',
        codexErrorInfo: 'rateLimitExceeded',
        additionalDetails: null,
      },
    },
  ]);
});

test('wait waits, and an abort ends the wait and the events', async () => {
  const clock = new FakeClock();
  const abort = new AbortController();
  const model = createEmbeddedModel({ clock });
  const input = [asked('say one\nwait 3000\nsay two\nwait 4000\nsay three')];
  const events = collect(model.stream({ ...request, input }, abort.signal));
  await clock.timerOf(3_000);
  clock.advance(3_000);
  await clock.timerOf(4_000);
  abort.abort();
  expect(messageTexts(await events)).toEqual(['one', 'two']);
  expect(clock.timers).toEqual([]);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});

test.each([
  'call me later',
  'call tool {broken',
  'call tool [1]',
  'repeat after me',
  'wait for it',
  'fail gracefully, please',
  'say',
  'sayings',
])('%j is ordinary text', async (text) => {
  const events = await ask(asked(text));
  expect(called(events)).toEqual([]);
  expect(messageTexts(events)).toEqual([expect.stringContaining(`You wrote: "${text}"`)]);
  expect(events.at(-1)?.type).toBe('completed');
});

test('nothing written, or nothing but an image, is answered too', async () => {
  const image: ResponseItem = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: 'data:,' }],
  };
  for (const input of [[], [image]])
    expect(messageTexts(await ask(...input))).toEqual([expect.stringContaining('embedded model')]);
});

test('after an abort there is no event', async () => {
  expect(
    await collect(
      createEmbeddedModel({ clock: new FakeClock() }).stream(request, AbortSignal.abort()),
    ),
  ).toEqual([]);
});
