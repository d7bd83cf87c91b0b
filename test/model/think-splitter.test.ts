import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chatStream, DONE, delta, finish } from './chat-stream.ts';
import { collect, modelAt, never, ProviderServer, type Reply, request } from './provider-server.ts';

/** The reasoning and the message of a model whose text comes in these deltas. */
async function read(...deltas: string[]): Promise<{ reasoning: string[]; text: string }> {
  return itemsOf(chatStream(...deltas.map((content) => delta({ content })), finish('stop'), DONE));
}

async function itemsOf(reply: Reply): Promise<{ reasoning: string[]; text: string }> {
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port, { wireApi: 'chat' });
  const reasoning: string[] = [];
  let text = '';
  let shownReasoning = '';
  let shownText = '';
  for (const event of await collect(model.stream(request, never))) {
    if (event.type === 'textDelta') shownText += event.delta;
    if (event.type === 'reasoningDelta') shownReasoning += event.delta;
    if (event.type !== 'itemCompleted') continue;
    const { item } = event;
    if (item.type === 'reasoning') reasoning.push(...(item.content ?? []).map((part) => ('text' in part ? part.text : '')));
    if (item.type === 'message') text += item.content.map((part) => ('text' in part ? part.text : '')).join('');
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

describe('reasoning in tags', () => {
  test.each<[string, string[], { reasoning: string[]; text: string }]>([
    ['before the answer', ['<think>why</think>', 'Yes'], { reasoning: ['why'], text: 'Yes' }],
    ['split over deltas', ['<th', 'ink>', 'w', 'hy\n</th', 'ink', '>\n', '\nYes'], { reasoning: ['why'], text: 'Yes' }],
    ['in the other tag', ['<thinking>why</think></thinking>Yes'], { reasoning: ['why</think>'], text: 'Yes' }],
    ['after space', ['\n\n', ' <think>\nwhy\n\nso\n</think>\n\nYes\n'], { reasoning: ['why\n\nso'], text: 'Yes\n' }],
    ['in two blocks', ['<think>a</think>\n<think>b</think> Yes'], { reasoning: ['ab'], text: 'Yes' }],
    ['that is empty', ['<think>\n\n</think>\n\nYes'], { reasoning: [], text: 'Yes' }],
    ['of letters whose small forms are longer', ['<think>İİİ</think>Yes'], { reasoning: ['İİİ'], text: 'Yes' }],
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

  test('that are not closed are reasoning to the end, and so no answer', async () => {
    await using server = await ProviderServer.start(chatStream(delta({ content: '<think>why </thi' }), finish('stop'), DONE));
    const events = await collect(modelAt(server.port, { wireApi: 'chat' }).model.stream(request, never));
    const reasoning = { type: 'reasoning', id: 'rs_0', summary: [] };
    expect(events.slice(1)).toEqual([
      { type: 'itemStarted', item: reasoning },
      { type: 'reasoningDelta', itemId: 'rs_0', index: 0, delta: 'why' },
      { type: 'reasoningDelta', itemId: 'rs_0', index: 0, delta: ' </thi' },
      { type: 'itemCompleted', item: { ...reasoning, content: [{ type: 'reasoning_text', text: 'why </thi' }] } },
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
    const call = delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] });
    for (const content of ['<think>why</think>\n\n', '<think>why']) {
      await using server = await ProviderServer.start(chatStream(delta({ content }), call, finish('tool_calls'), DONE));
      const events = await collect(modelAt(server.port, { wireApi: 'chat' }).model.stream(request, never));
      expect(events.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : []))).toEqual([
        { type: 'reasoning', id: 'rs_0', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      ]);
    }
  });

  test('in an answer that is no stream', async () => {
    const whole = { choices: [{ index: 0, message: { role: 'assistant', content: '<think>why</think>\nYes' }, finish_reason: 'stop' }] };
    const reply: Reply = (res) => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    expect(await itemsOf(reply)).toEqual({ reasoning: ['why'], text: 'Yes' });
  });
});

test('wherever a stream is cut, its reasoning and text are those of the whole', async () => {
  let deltas: string[] = [];
  const reply: Reply = (res, ...rest) => chatStream(...deltas.map((content) => delta({ content })), finish('stop'), DONE)(res, ...rest);
  await using server = await ProviderServer.start(reply);
  const { model } = modelAt(server.port, { wireApi: 'chat' });
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
      const at = [0, ...new Set(places.filter((place) => place < text.length))].sort((one, other) => one - other);
      deltas = at.map((from, index) => text.slice(from, at[index + 1]));
      const events = await collect(model.stream(request, never));
      const said = (type: string) => events.map((event) => ('delta' in event && event.type === type ? event.delta : '')).join('');
      expect({ reasoning: said('reasoningDelta'), text: said('textDelta') }).toEqual(parsed(text));
    }),
    { numRuns: 500 },
  );
});
