import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import { chatStream, DONE, delta, finish } from './chat-stream.ts';
import {
  collect,
  completed,
  created,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
  streaming,
} from './provider-server.ts';

const KEY = 'sk-test"key/0123';

type Part = 'text' | 'reasoning' | 'arguments';
type WireApi = 'responses' | 'chat';

/** All events of one response to a request that was sent with the key. */
async function events(wireApi: WireApi, reply: Reply): Promise<ModelEvent[]> {
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port, { wireApi, envKey: 'K' }, { env: { K: KEY } });
  return await collect(model.stream(request, never));
}

/** A response in which a part has these deltas. */
function replyWith(wireApi: WireApi, part: Part, deltas: string[]): Reply {
  return wireApi === 'chat' ? chatAnswer(part, deltas) : responsesAnswer(part, deltas);
}

function chatAnswer(part: Part, deltas: string[]): Reply {
  const change = (text: string) => {
    if (part === 'text') return { content: text };
    if (part === 'reasoning') return { reasoning_content: text };
    return { tool_calls: [{ index: 0, id: 'call', function: { name: 'f', arguments: text } }] };
  };
  return chatStream(
    ...deltas.map((text) => delta(change(text))),
    ...(part === 'reasoning' ? [delta({ content: 'ok' })] : []),
    finish('stop'),
    DONE,
  );
}

function responsesAnswer(part: Part, deltas: string[]): Reply {
  const text = deltas.join('');
  const [type, begun, ended] = {
    text: ['output_text', message([]), message([{ type: 'output_text', text }])],
    reasoning: ['reasoning_text', reasoning([]), reasoning([{ type: 'reasoning_text', text }])],
    arguments: ['function_call_arguments', call(''), call(text)],
  }[part] as [string, object, object];
  return streaming(
    created,
    { type: 'response.output_item.added', output_index: 0, item: begun },
    ...deltas.map((each) => ({
      type: `response.${type}.delta`,
      item_id: 'one',
      output_index: 0,
      content_index: 0,
      delta: each,
    })),
    { type: 'response.output_item.done', output_index: 0, item: ended },
    completed,
  );
}

const message = (content: object[]) => ({ type: 'message', id: 'one', role: 'assistant', content });
const reasoning = (content: object[]) => ({ type: 'reasoning', id: 'one', summary: [], content });
const call = (args: string) => ({
  type: 'function_call',
  id: 'one',
  call_id: 'call',
  name: 'f',
  arguments: args,
});

/** The deltas as one text, and the text of the completed item. */
function texts(all: ModelEvent[]): [string, string] {
  const deltas = all.flatMap((event) => ('delta' in event ? [event.delta] : [])).join('');
  const item = all.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : []))[0];
  if (item?.type === 'function_call') return [deltas, item.arguments];
  const parts = item?.type === 'message' || item?.type === 'reasoning' ? (item.content ?? []) : [];
  return [
    deltas.replace(/ok$/, ''),
    parts.map((part) => ('text' in part ? part.text : '')).join(''),
  ];
}

describe.each<WireApi>(['responses', 'chat'])(
  'a key that a provider with the API %s repeats is not shown',
  (wireApi) => {
    test.each<Part>(['text', 'reasoning', 'arguments'])(
      'in %s, whole, split at every position, and in single characters',
      async (part) => {
        const whole =
          part === 'arguments' ? JSON.stringify({ a: `is ${KEY}, or` }) : `is ${KEY}, or`;
        const shown = part === 'arguments' ? '{"a":"is …, or"}' : 'is …, or';
        const splits = Array.from({ length: whole.length - 1 }, (_, index) => [
          whole.slice(0, index + 1),
          whole.slice(index + 1),
        ]);
        for (const deltas of [[whole], [...whole], ...splits]) {
          expect(texts(await events(wireApi, replyWith(wireApi, part, deltas)))).toEqual([
            shown,
            shown,
          ]);
        }
      },
    );

    test('as the end of a text that only begins like it, of which nothing is lost', async () => {
      const text = `is ${KEY.slice(0, -1)}`;
      expect(texts(await events(wireApi, replyWith(wireApi, 'text', [...text])))).toEqual([
        text,
        text,
      ]);
    });

    test('in arguments that write it with escape sequences', async () => {
      const written = KEY.replace('s', '\\u0073').replace('"', '\\"');
      const [deltas, args] = texts(
        await events(wireApi, replyWith(wireApi, 'arguments', [...`{"a":"x ${written}"}`])),
      );
      expect(args).toBe('{"a":"x …"}');
      expect(deltas).toBe('{"a":"x \\u007');
    });

    test('in arguments that write any one of its characters with any escape sequence', async () => {
      const short: Record<string, string> = { '"': '\\"', '\\': '\\\\', '/': '\\/', '\n': '\\n' };
      for (const [index, char] of [...KEY].entries()) {
        const code = char.charCodeAt(0).toString(16).padStart(4, '0');
        for (const escaped of [
          `\\u${code}`,
          `\\u${code.toUpperCase()}`,
          ...(char in short ? [short[char]] : []),
        ]) {
          const others = [...KEY].map((each) =>
            each === '"' || each === '\\' ? `\\${each}` : each,
          );
          const written = others.with(index, escaped ?? '').join('');
          const [, args] = texts(
            await events(wireApi, replyWith(wireApi, 'arguments', [`{"a":"x ${written}"}`])),
          );
          expect(args, written).toBe('{"a":"x …"}');
        }
      }
    });

    test.each([400, 401, 500])('in an error with status %i', async (status) => {
      const all = await events(
        wireApi,
        refusing(status, { error: { message: `Bad ${KEY}`, code: KEY, type: KEY } }),
      );
      expect(all.at(-1)).toMatchObject({ type: 'failed' });
      expect(JSON.stringify(all)).not.toContain('0123');
    });
  },
);

describe('a key that a provider repeats is not shown', () => {
  test('in ids, names, summaries, unknown fields and keys of an item', async () => {
    const item = {
      type: 'reasoning',
      id: KEY,
      summary: [{ type: 'summary_text', text: KEY }],
      encrypted_content: KEY,
      [KEY]: [KEY],
    };
    const all = await events(
      'responses',
      streaming(
        { type: 'response.output_item.added', output_index: 0, item: { ...item, summary: [] } },
        {
          type: 'response.reasoning_summary_part.added',
          item_id: KEY,
          output_index: 0,
          summary_index: 0,
        },
        {
          type: 'response.reasoning_summary_text.delta',
          item_id: KEY,
          output_index: 0,
          summary_index: 0,
          delta: KEY,
        },
        { type: 'response.output_item.done', output_index: 0, item },
        {
          type: 'response.output_item.done',
          output_index: 1,
          item: { type: 'custom_tool_call', call_id: KEY, name: KEY, input: KEY },
        },
        completed,
      ),
    );
    expect(all.slice(1, -1)).toEqual([
      {
        type: 'itemStarted',
        item: { type: 'reasoning', id: '…', summary: [], encrypted_content: '…', '…': ['…'] },
      },
      { type: 'reasoningSummaryPart', itemId: '…', index: 0 },
      { type: 'reasoningSummaryDelta', itemId: '…', index: 0, delta: '…' },
      {
        type: 'itemCompleted',
        item: {
          type: 'reasoning',
          id: '…',
          summary: [{ type: 'summary_text', text: '…' }],
          encrypted_content: '…',
          '…': ['…'],
        },
      },
      {
        type: 'itemCompleted',
        item: { type: 'custom_tool_call', call_id: '…', name: '…', input: '…' },
      },
    ]);
  });

  test('over two parts of a message', async () => {
    const content = [KEY.slice(0, 5), `${KEY.slice(5)} end`].map((text) => ({
      type: 'output_text',
      text,
    }));
    const all = await events(
      'responses',
      streaming({ type: 'response.output_item.done', item: message(content) }, completed),
    );
    expect(texts(all)[1]).toBe('… end');
  });

  test('at the end of a summary part, whose text comes before the next part', async () => {
    const summary = (index: number, text: string) => [
      {
        type: 'response.reasoning_summary_part.added',
        item_id: 'one',
        output_index: 0,
        summary_index: index,
      },
      {
        type: 'response.reasoning_summary_text.delta',
        item_id: 'one',
        output_index: 0,
        summary_index: index,
        delta: text,
      },
    ];
    const item = { type: 'reasoning', id: 'one', summary: [] };
    const all = await events(
      'responses',
      streaming(
        { type: 'response.output_item.added', output_index: 0, item },
        ...summary(0, 'tests'),
        ...summary(1, 'more'),
        completed,
      ),
    );
    expect(all.flatMap((event) => ('delta' in event ? [event.delta] : [event.type]))).toEqual([
      ...[
        'started',
        'itemStarted',
        'reasoningSummaryPart',
        'test',
        's',
        'reasoningSummaryPart',
        'more',
        'saidNothing',
        'completed',
      ],
    ]);
  });
});

test('words of the format stay, even if one is the value of a header', async () => {
  await using server = await ProviderServer.start(replyWith('responses', 'text', ['an assistant']));
  const httpHeaders = { 'X-Role': 'assistant', 'X-State': 'completed', 'X-Type': 'output_text' };
  const { model } = modelAt(server.port, { httpHeaders });
  const all = await collect(model.stream(request, never));
  expect(all.map(({ type }) => type)).toEqual([
    'started',
    'itemStarted',
    'textDelta',
    'itemCompleted',
    'completed',
  ]);
  expect(all.at(-2)).toMatchObject({
    item: { role: 'assistant', content: [{ type: 'output_text', text: 'an …' }] },
  });
});

test('a key of fewer than 8 characters stays: it is found in plain words', async () => {
  await using server = await ProviderServer.start(replyWith('responses', 'text', ['a word']));
  const { model } = modelAt(server.port, { envKey: 'K' }, { env: { K: 'word' } });
  expect(texts(await collect(model.stream(request, never)))).toEqual(['a word', 'a word']);
});
