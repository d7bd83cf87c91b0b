import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatStream, DONE, delta, finish } from './chat-stream.ts';
import {
  collect,
  completed,
  message,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  request,
  streaming,
} from './provider-server.ts';

type WireApi = 'chat' | 'responses';

const WIRE_APIS: WireApi[] = ['chat', 'responses'];

/** The answer of a model whose text comes in these deltas. */
function answerOf(wireApi: WireApi, deltas: string[]): Reply {
  if (wireApi === 'chat')
    return chatStream(...deltas.map((content) => delta({ content })), finish('stop'), DONE);
  const [added = {}, , done = {}] = message(deltas.join(''));
  const events = deltas.map((each) => ({
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 0,
    delta: each,
  }));
  return streaming(added, ...events, done, completed);
}

async function itemsOf(
  wireApi: WireApi,
  reply: Reply,
): Promise<{ reasoning: string[]; text: string }> {
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port, { wireApi });
  const reasoning: string[] = [];
  let text = '';
  let shownReasoning = '';
  let shownText = '';
  for (const event of await collect(model.stream(request, never))) {
    if (event.type === 'textDelta') shownText += event.delta;
    if (event.type === 'reasoningDelta') shownReasoning += event.delta;
    if (event.type !== 'itemCompleted') continue;
    const { item } = event;
    if (item.type === 'reasoning')
      reasoning.push(...(item.content ?? []).map((part) => ('text' in part ? part.text : '')));
    if (item.type === 'message')
      text += item.content.map((part) => ('text' in part ? part.text : '')).join('');
  }
  expect([shownReasoning, shownText]).toEqual([reasoning.join(''), text]);
  return { reasoning, text };
}

/** The same reading, of the whole text at once. */
function parsed(answer: string): { reasoning: string; text: string } {
  let reasoning = '';
  let rest = answer;
  for (let block = next(rest); block !== null; block = next(rest)) {
    reasoning += block.inside.trim();
    rest = block.behind;
  }
  return { reasoning, text: rest };
}

function next(rest: string): { inside: string; behind: string } | null {
  const [opening, tag] = /^\s*<(think|thinking)>/i.exec(rest) ?? [];
  if (opening === undefined) return null;
  const [, inside = rest.slice(opening.length), behind = ''] =
    new RegExp(`^([^]*?)</${tag}>\\s*([^]*)$`, 'i').exec(rest.slice(opening.length)) ?? [];
  return { inside, behind };
}

describe.each(WIRE_APIS)('reasoning in tags, with %s,', (wireApi) => {
  const read = (...deltas: string[]) => itemsOf(wireApi, answerOf(wireApi, deltas));

  test.each<[string, string[], { reasoning: string[]; text: string }]>([
    ['before the answer', ['<think>why</think>', 'Yes'], { reasoning: ['why'], text: 'Yes' }],
    [
      'split over deltas',
      ['<th', 'ink>', 'w', 'hy\n</th', 'ink', '>\n', '\nYes'],
      { reasoning: ['why'], text: 'Yes' },
    ],
    [
      'in the other tag',
      ['<thinking>why</think></thinking>Yes'],
      { reasoning: ['why</think>'], text: 'Yes' },
    ],
    [
      'after space',
      ['\n\n', ' <think>\nwhy\n\nso\n</think>\n\nYes\n'],
      { reasoning: ['why\n\nso'], text: 'Yes\n' },
    ],
    [
      'in two blocks',
      ['<think>a</think>\n<think>b</think> Yes'],
      { reasoning: ['ab'], text: 'Yes' },
    ],
    ['that is empty', ['<think>\n\n</think>\n\nYes'], { reasoning: [], text: 'Yes' }],
    [
      'of letters whose small forms are longer',
      ['<think>İİİ</think>Yes'],
      { reasoning: ['İİİ'], text: 'Yes' },
    ],
    ['in capitals', ['<THINK>why</Think>Yes'], { reasoning: ['why'], text: 'Yes' }],
  ])('%s', async (_, deltas, expected) => {
    expect(await read(...deltas)).toEqual(expected);
  });

  test.each([
    ['in the middle', ['Use <think>why</think> there']],
    ['that is another', ['<thin', 'ker>why</thinker>']],
    ['at the end', ['It is <th']],
    ['that is not whole', ['<think']],
    ['that only closes', ['</think>Yes']],
    ['behind space and text', ['\n a', '<think>b</think>']],
  ])('a tag %s is text', async (_, deltas) => {
    expect(await read(...deltas)).toEqual({ reasoning: [], text: deltas.join('') });
  });
});

describe('reasoning in tags', () => {
  test('that are not closed are reasoning to the end, and so no answer', async () => {
    await using server = await ProviderServer.start(
      chatStream(delta({ content: '<think>why </thi' }), finish('stop'), DONE),
    );
    const events = await collect(
      modelAt(server.port, { wireApi: 'chat' }).model.stream(request, never),
    );
    const reasoning = { type: 'reasoning', id: 'rs_0', summary: [] };
    expect(events.slice(1)).toEqual([
      { type: 'itemStarted', item: reasoning },
      { type: 'reasoningDelta', itemId: 'rs_0', index: 0, delta: 'why' },
      { type: 'reasoningDelta', itemId: 'rs_0', index: 0, delta: ' </thi' },
      {
        type: 'itemCompleted',
        item: { ...reasoning, content: [{ type: 'reasoning_text', text: 'why </thi' }] },
      },
      {
        type: 'failed',
        error: {
          message: `P (http://127.0.0.1:${server.port}/v1/chat/completions) ended its answer after reasoning, without text or a call. Ask again, or choose another model.`,
          codexErrorInfo: 'other',
          additionalDetails: null,
        },
      },
    ]);
  });

  test('before a call, closed or not', async () => {
    const call = delta({
      tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }],
    });
    for (const content of ['<think>why</think>\n\n', '<think>why']) {
      await using server = await ProviderServer.start(
        chatStream(delta({ content }), call, finish('tool_calls'), DONE),
      );
      const events = await collect(
        modelAt(server.port, { wireApi: 'chat' }).model.stream(request, never),
      );
      expect(
        events.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : [])),
      ).toEqual([
        {
          type: 'reasoning',
          id: 'rs_0',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'why' }],
        },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      ]);
    }
  });

  test('in an answer that is no stream', async () => {
    const whole = {
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: '<think>why</think>\nYes' },
          finish_reason: 'stop',
        },
      ],
    };
    const reply: Reply = (res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    expect(await itemsOf('chat', reply)).toEqual({ reasoning: ['why'], text: 'Yes' });
  });
});

describe('reasoning in the tags of a message of the Responses API', () => {
  const begun = {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'message', id: 'm', role: 'assistant', content: [] },
  };
  const ended = (...texts: string[]) => ({
    type: 'response.output_item.done',
    output_index: 0,
    item: {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: texts.map((each) => ({ type: 'output_text', text: each })),
    },
  });
  const text = (each: string) => ({
    type: 'response.output_text.delta',
    item_id: 'm',
    output_index: 0,
    delta: each,
  });
  const thought = {
    type: 'reasoning',
    id: 'thought_0',
    summary: [],
    content: [{ type: 'text', text: 'why' }],
  };
  const said = {
    type: 'message',
    id: 'm',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Yes' }],
  };
  const call = {
    type: 'response.output_item.done',
    output_index: 1,
    item: { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
  };

  test.each<[string, object[], object[]]>([
    ['that comes whole', [ended('<think>why</think>\n\nYes')], [thought, said]],
    ['that begins and then comes whole', [begun, ended('<think>why</think>Yes')], [thought, said]],
    ['in several parts', [ended('\n', '<think>w', 'hy', '</think>', '\nYes')], [thought, said]],
    [
      'whose end has no tags',
      [begun, text('<think>why</think>Yes'), ended('Yes')],
      [thought, said],
    ],
    [
      'whose tags only the end has',
      [begun, text('Yes'), ended('<think>why</think>Yes')],
      [thought, said],
    ],
    [
      'that is nothing else, before a call',
      [begun, text('<think>why</think>\n'), ended('<think>why</think>\n'), call],
      [thought, call.item],
    ],
    ['that is not closed, before a call', [ended('<think>why'), call], [thought, call.item]],
  ])('%s', async (_, events, expected) => {
    await using server = await ProviderServer.start(streaming(...events, completed));
    const { model } = modelAt(server.port);
    const made = await collect(model.stream(request, never));
    expect(made.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : []))).toEqual(
      expected,
    );
    expect(made.at(-1)).toEqual({ type: 'completed', usage: null, responseId: 'resp_1' });
  });

  test('is shown before the message begins, and is not sent back', async () => {
    await using server = await ProviderServer.start(
      streaming(
        begun,
        text('<th'),
        text('ink>why</think>\nY'),
        text('es'),
        ended('<think>why</think>\nYes'),
        completed,
      ),
    );
    const { model } = modelAt(server.port);
    const events = await collect(model.stream(request, never));
    const { content: _, ...started } = thought;
    expect(events).toEqual([
      { type: 'started' },
      { type: 'itemStarted', item: started },
      { type: 'reasoningDelta', itemId: 'thought_0', index: 0, delta: 'why' },
      { type: 'itemCompleted', item: thought },
      { type: 'itemStarted', item: begun.item },
      { type: 'textDelta', itemId: 'm', delta: 'Y' },
      { type: 'textDelta', itemId: 'm', delta: 'es' },
      { type: 'itemCompleted', item: said },
      { type: 'completed', usage: null, responseId: 'resp_1' },
    ]);
    const made = events.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : []));
    await collect(model.stream({ ...request, input: [...request.input, ...made] }, never));
    const { id: __, ...sent } = said;
    expect(server.requests[1]?.body).toMatchObject({ input: [...request.input, sent] });
  });
});

test.each(WIRE_APIS)(
  'wherever a stream is cut, its reasoning and text are those of the whole, with %s',
  async (wireApi) => {
    let deltas: string[] = [];
    const reply: Reply = (res, ...rest) => answerOf(wireApi, deltas)(res, ...rest);
    await using server = await ProviderServer.start(reply);
    const { model } = modelAt(server.port, { wireApi });
    const piece = fc.constantFrom(
      '<think>',
      '</think>',
      '<thinking>',
      '</thinking>',
      '<',
      '>',
      '</',
      'think',
      ' ',
      '\n',
      'why',
      'Ünd ',
      '🧵',
    );
    const answer = fc.array(piece, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
    const cuts = fc.array(fc.nat(40), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(answer, cuts, async (text, places) => {
        const at = [0, ...new Set(places.filter((place) => place < text.length))].sort(
          (one, other) => one - other,
        );
        deltas = at.map((from, index) => text.slice(from, at[index + 1]));
        const events = await collect(model.stream(request, never));
        const said = (type: string) =>
          events
            .map((event) => ('delta' in event && event.type === type ? event.delta : ''))
            .join('');
        expect({ reasoning: said('reasoningDelta'), text: said('textDelta') }).toEqual(
          parsed(text),
        );
      }),
      { numRuns: 300 },
    );
  },
);
