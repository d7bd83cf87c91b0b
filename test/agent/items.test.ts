import { describe, expect, test } from 'vitest';
import type { ModelEvent } from '../../src/model/model.ts';
import type { ResponseItem, ThreadItem } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { ANY_ID, agentItem, begun, brief, timed, userItem } from '../support/expected.ts';
import {
  conversation,
  message,
  reasoning,
  response,
  said,
  TestModel,
  webSearch,
} from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

/**
 * Runs a turn with these events of the model. Returns its items as announced, and as read after a
 * restart.
 */
async function turnWith(
  events: ModelEvent[],
  config?: string,
): Promise<TestServer & { items: ThreadItem[]; started: ThreadItem[] }> {
  const model = new TestModel(response(events));
  const server = await startServer({ model, ...(config === undefined ? {} : { config }) });
  await server.client.request('thread/start', {});
  expect((await server.client.turn(idOf(1), 'hi')).status).toBe('completed');
  const [, ...items] = server.client.notifications('item/completed').map(({ item }) => item);
  const [, ...started] = server.client.notifications('item/started').map(({ item }) => item);
  const next = await server.restart();
  const { thread } = await next.client.request('thread/resume', { threadId: idOf(1) });
  expect(thread.turns.map((turn) => turn.items)).toEqual([[userItem('hi'), ...items]]);
  return { ...next, client: server.client, items, started };
}

/** The model's own items in the request of the next turn. */
async function sentBack(server: TestServer): Promise<ResponseItem[]> {
  const { client } = await server.restart();
  await client.request('thread/resume', { threadId: idOf(1) });
  server.model.push(response(message('next')));
  await client.turn(idOf(1), 'next');
  return conversation(server.model.request(2)).slice(1, -1);
}

describe('a message', () => {
  test('has one id in all notifications, and completes with the whole text, whatever its deltas were', async () => {
    const events = message('as completed', { deltas: ['as ', 'streamed'] });
    const { client, items } = await turnWith(events);
    expect(items).toEqual([agentItem('as completed')]);
    const ids = client.messages.flatMap(({ method, params }) => {
      const { itemId, item } = (params ?? {}) as { itemId?: string; item?: ThreadItem };
      return method?.startsWith('item/') && item?.type !== 'userMessage'
        ? [itemId ?? item?.id]
        : [];
    });
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(1);
  });

  test('without deltas, or without a start event, starts and completes too', async () => {
    const { items, started } = await turnWith([
      { type: 'itemCompleted', item: said('no beginning') },
      ...message('no deltas', { deltas: [] }),
    ]);
    expect(items).toEqual([agentItem('no beginning'), agentItem('no deltas')]);
    expect(started).toEqual([agentItem(''), agentItem('')].map(begun));
  });

  test('keeps its phase', async () => {
    const { items, started } = await turnWith([
      ...message('working', { phase: 'commentary', id: 'a' }),
      ...message('done', { phase: 'final_answer', id: 'b' }),
    ]);
    expect(items).toEqual([
      agentItem('working', { phase: 'commentary' }),
      agentItem('done', { phase: 'final_answer' }),
    ]);
    expect(started).toEqual(
      [agentItem('', { phase: 'commentary' }), agentItem('', { phase: 'final_answer' })].map(begun),
    );
  });

  test('with a phase that older clients do not know is shown without it', async () => {
    const { items, started } = await turnWith(message('so far', { phase: 'partial_answer' }));
    expect(started.map((item) => item.type === 'agentMessage' && item.phase)).toEqual([null]);
    expect(items).toEqual([agentItem('so far', { phase: null })]);
  });

  test('whose id the model uses twice is two items', async () => {
    const { items } = await turnWith([...message('one'), ...message('two')]);
    expect(brief(items)).toEqual(['agent: one', 'agent: two']);
    expect(items[0]?.id).not.toBe(items[1]?.id);
  });

  test('that overlaps with another gets its own deltas', async () => {
    const [a = [], b = []] = ['one', 'two'].map((text, index) =>
      message(text, { id: `m${index}`, deltas: [...text] }),
    );
    const events = a.flatMap((event, index) => [event, b[index] ?? event]);
    const { client, items } = await turnWith(events);
    expect(brief(items)).toEqual(['agent: one', 'agent: two']);
    const texts = items.map(({ id }) =>
      client
        .notifications('item/agentMessage/delta', ({ itemId }) => itemId === id)
        .map(({ delta }) => delta)
        .join(''),
    );
    expect(texts).toEqual(['one', 'two']);
  });

  test('with several parts is shown with their texts joined; the model reads the parts', async () => {
    const item: ResponseItem = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'a' },
        { type: 'output_text', text: 'b' },
      ],
    };
    const server = await turnWith([{ type: 'itemCompleted', item }]);
    expect(server.items).toEqual([agentItem('ab')]);
    expect(await sentBack(server)).toEqual([item]);
  });

  test('a delta after the end, for an unknown item, or without text is not shown', async () => {
    const { client, items } = await turnWith([
      { type: 'textDelta', itemId: 'msg_1', delta: 'early' },
      ...message('whole'),
      { type: 'textDelta', itemId: 'msg_1', delta: 'late' },
      ...message('', { id: 'msg_2' }),
    ]);
    expect(items).toEqual([agentItem('whole'), agentItem('')]);
    expect(client.notifications('item/agentMessage/delta').map(({ delta }) => delta)).toEqual([
      'whole',
    ]);
  });
});

describe('reasoning', () => {
  test('is shown with its summary, and without its raw content by default', async () => {
    const server = await turnWith([...reasoning('because', { content: 'raw' }), ...message('ok')]);
    expect(server.items[0]).toEqual(
      timed({ type: 'reasoning', id: ANY_ID, summary: ['because'], content: [] }),
    );
    expect(server.client.notifications('item/reasoning/textDelta')).toEqual([]);
    expect(await sentBack(server)).toEqual([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'because' }],
        content: [{ type: 'reasoning_text', text: 'raw' }],
      },
      said('ok'),
    ]);
  });

  test('is shown with its raw content if the configuration says so', async () => {
    const config = 'model = "m"\nmodel_provider = "scripted"\nshow_raw_agent_reasoning = true\n';
    const { client, items } = await turnWith(
      [...reasoning('because', { content: 'raw' }), ...message('ok')],
      config,
    );
    expect(items[0]).toEqual(
      timed({ type: 'reasoning', id: ANY_ID, summary: ['because'], content: ['raw'] }),
    );
    expect(
      client
        .notifications('item/reasoning/textDelta')
        .map(({ delta, contentIndex }) => [delta, contentIndex]),
    ).toEqual([['raw', 0]]);
  });

  test.each(['', 'show_raw_agent_reasoning = true\n'])(
    'is not shown if the configuration hides it, but the model reads it again (%j)',
    async (raw) => {
      const config = `model = "m"\nmodel_provider = "scripted"\nhide_agent_reasoning = true\n${raw}`;
      const server = await turnWith(
        [...reasoning('because', { content: 'raw' }), ...message('ok')],
        config,
      );
      expect(server.started).toEqual([begun(agentItem(''))]);
      expect(server.items).toEqual([agentItem('ok')]);
      expect(
        server.client.messages.filter(({ method }) => method?.startsWith('item/reasoning/')),
      ).toEqual([]);
      expect((await sentBack(server)).map(({ type }) => type)).toEqual(['reasoning', 'message']);
    },
  );

  test('with several parts announces each', async () => {
    const item: ResponseItem & { id: string } = { type: 'reasoning', id: 'rs', summary: [] };
    const { client, items } = await turnWith([
      { type: 'itemStarted', item },
      { type: 'reasoningSummaryPart', itemId: 'rs', index: 0 },
      { type: 'reasoningSummaryDelta', itemId: 'rs', index: 0, delta: 'a' },
      { type: 'reasoningSummaryPart', itemId: 'rs', index: 1 },
      { type: 'reasoningSummaryDelta', itemId: 'rs', index: 1, delta: 'b' },
      {
        type: 'itemCompleted',
        item: {
          ...item,
          summary: ['a', 'b'].map((text) => ({ type: 'summary_text' as const, text })),
        },
      },
      ...message('ok'),
    ]);
    expect(items[0]).toEqual(
      timed({ type: 'reasoning', id: ANY_ID, summary: ['a', 'b'], content: [] }),
    );
    const deltas = client
      .notifications('item/reasoning/summaryTextDelta')
      .map(({ delta, summaryIndex }) => [delta, summaryIndex]);
    expect(deltas).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    expect(
      client
        .notifications('item/reasoning/summaryPartAdded')
        .map(({ summaryIndex }) => summaryIndex),
    ).toEqual([0, 1]);
  });
});

type WebSearch = Extract<ThreadItem, { type: 'webSearch' }>;

describe('a web search', () => {
  const searches: [string, Parameters<typeof webSearch>[0], Pick<WebSearch, 'query' | 'action'>][] =
    [
      [
        'for one thing',
        { type: 'search', query: 'bread' },
        { query: 'bread', action: { type: 'search', query: 'bread', queries: null } },
      ],
      [
        'for several',
        { type: 'search', queries: ['a', 'b'] },
        { query: 'a ...', action: { type: 'search', query: null, queries: ['a', 'b'] } },
      ],
      [
        'for one of a list',
        { type: 'search', query: '', queries: ['a'] },
        { query: 'a', action: { type: 'search', query: '', queries: ['a'] } },
      ],
      [
        'that opens a page',
        { type: 'open_page', url: 'https://a/' },
        { query: 'https://a/', action: { type: 'openPage', url: 'https://a/' } },
      ],
      [
        'for a text in a page',
        { type: 'find_in_page', url: 'https://a/', pattern: 'x' },
        {
          query: "'x' in https://a/",
          action: { type: 'findInPage', url: 'https://a/', pattern: 'x' },
        },
      ],
      [
        'for a text in the page that is open',
        { type: 'find_in_page', pattern: 'x' },
        { query: "'x'", action: { type: 'findInPage', url: null, pattern: 'x' } },
      ],
      ['of another kind', { type: 'other' }, { query: '', action: { type: 'other' } }],
      ['that does not say what it did', undefined, { query: '', action: { type: 'other' } }],
    ];

  test.each(searches)('%s', async (_name, action, shown) => {
    const server = await turnWith([...webSearch(action), ...message('found')]);
    expect(server.started[0]).toMatchObject({
      type: 'webSearch',
      id: 'ws_1',
      query: '',
      action: { type: 'other' },
      results: null,
    });
    expect(server.items[0]).toEqual(
      timed({ type: 'webSearch', id: 'ws_1', ...shown, results: null }),
    );
    const call = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      ...(action === undefined ? {} : { action }),
    };
    expect(await sentBack(server)).toEqual([call, said('found')]);
  });

  test('shows the results that it came with, also in histories; the model does not read them again', async () => {
    const call = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'bread' },
    } as const;
    const results = [{ title: 'Bread', url: 'https://a/' }, 'more'];
    const found: ModelEvent[] = [
      { type: 'itemStarted', item: { ...call, status: 'in_progress' } },
      { type: 'itemCompleted', item: Object.assign({ ...call }, { results }) },
    ];
    const model = new TestModel(response(found, message('found')), response(message('ok')));
    const server = await startServer({ model });
    const { thread } = await server.client.request('thread/start', {});
    await server.client.turn(thread.id, 'hi');
    const action = { type: 'search' as const, query: 'bread', queries: null };
    const shown = { type: 'webSearch' as const, id: 'ws_1', query: 'bread', action };
    expect(server.client.notifications('item/started')[1]?.item).toEqual(
      begun(timed({ ...shown, results: null })),
    );
    expect(server.client.notifications('item/completed')[1]?.item).toEqual(
      timed({ ...shown, results }),
    );
    const again = await server.restart();
    const resumed = await again.client.request('thread/resume', { threadId: thread.id });
    expect(resumed.thread.turns[0]?.items[1]).toEqual(timed({ ...shown, results }));
    const forked = await again.client.request('thread/fork', { threadId: thread.id });
    expect(forked.thread.turns[0]?.items[1]).toEqual(timed({ ...shown, results }));
    await again.client.turn(thread.id, 'more');
    expect(model.request(2).input.filter(({ type }) => type === 'web_search_call')).toEqual([call]);
  });
});

test('a web search has the id that the provider gave it, unless an item of the thread has it', async () => {
  const action = { type: 'search', query: 'bread' } as const;
  const search = (id: string) => response(webSearch(action, { id }), message('found'));
  const model = new TestModel(search('ws_1'), search('ws_1'), search('ws_1'), search('ws_2'));
  const server = await startServer({ model });
  const { thread } = await server.client.request('thread/start', {});
  const ids = async ({ client }: Pick<typeof server, 'client'>) => {
    const { turns } = (
      await client.request('thread/read', { threadId: thread.id, includeTurns: true })
    ).thread;
    return turns
      .flatMap(({ items }) => items)
      .flatMap((item) => (item.type === 'webSearch' ? [item.id] : []));
  };
  await server.client.turn(thread.id, 'one');
  await server.client.turn(thread.id, 'two');
  const again = await server.restart();
  await again.client.request('thread/resume', { threadId: thread.id });
  await again.client.turn(thread.id, 'three');
  await again.client.turn(thread.id, 'four');
  expect(await ids(again)).toEqual([
    'ws_1',
    expect.stringMatching(/^[0-9a-f-]{36}$/),
    expect.stringMatching(/^[0-9a-f-]{36}$/),
    'ws_2',
  ]);
});

test('an image that the model generated', async () => {
  const item: ResponseItem & { id: string } = {
    type: 'image_generation_call',
    id: 'ig_1',
    status: 'completed',
    revised_prompt: 'a cat',
    result: 'AAAA'.repeat(50_000),
  };
  const server = await turnWith([
    { type: 'itemStarted', item: { ...item, status: 'in_progress', result: '' } },
    { type: 'itemCompleted', item },
    ...message('there'),
  ]);
  const shown = {
    type: 'imageGeneration',
    id: ANY_ID,
    revisedPrompt: 'a cat',
    savedPath: null,
  } as const;
  expect(server.items[0]).toEqual(timed({ ...shown, status: 'completed', result: item.result }));
  expect(server.started[0]).toEqual(
    begun(timed({ ...shown, revisedPrompt: null, status: 'in_progress', result: '' })),
  );
  expect(await sentBack(server)).toEqual([item, said('there')]);
});

test('an empty response completes the turn', async () => {
  const { client, items } = await turnWith([]);
  expect(items).toEqual([]);
  expect(client.notifications('turn/completed').map(({ turn }) => turn.items)).toEqual([[]]);
});
