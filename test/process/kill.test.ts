// @module-tag slow
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { ResponseItem, ThreadItem, Turn } from '../../src/protocol/generated/types.ts';
import {
  completed,
  created,
  message,
  ProviderServer,
  type Reply,
  sse,
} from '../model/provider-server.ts';
import { brief } from '../support/expected.ts';
import { type Message, text } from '../support/test-client.ts';
import { conversation } from '../support/test-model.ts';
import { type HeddleProcess, type Place, place, providerToml, startHeddle } from './support.ts';

const WORD_MS = 100;
const EVENT_MS = 5;
/** How much of a message may be lost. */
const LOST_MS_MAX = 1_000;

const reasoning = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', summary: [] },
  },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
  {
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_1',
    summary_index: 0,
    delta: 'a thought',
  },
];
const reasoned = {
  type: 'response.output_item.done',
  output_index: 0,
  item: { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'a thought' }] },
};
const usage = {
  input_tokens: 3,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 2,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 5,
};
const finished = { ...completed, response: { id: 'resp_1', usage } };

/** The whole answer to a question: some reasoning and two messages. */
const ANSWER = [
  created,
  ...reasoning,
  reasoned,
  ...message('first answer', 'msg_1'),
  ...message('second answer', 'msg_2'),
  finished,
];

const WHOLE_ANSWERS = ['assistant: first answer', 'assistant: second answer'];

function begin(res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
}

/** Says so many events of the answer and then nothing. */
function upTo(count: number): Reply {
  return (res) => {
    begin(res);
    for (const event of ANSWER.slice(0, count)) res.write(sse(event));
  };
}

/**
 * Says the whole answer, with a moment between its events, so that the client is never far behind.
 */
const eventByEvent: Reply = async (res) => {
  begin(res);
  for (const event of ANSWER) {
    res.write(sse(event));
    await after(EVENT_MS);
  }
  res.end();
};

/** How fast the model talks; no test waits for it. */
function after(ms: number): Promise<void> {
  return new Promise((resolve) => systemClock.setTimer(resolve, ms));
}

const whole: Reply = (res) => {
  begin(res);
  res.end(ANSWER.map(sse).join(''));
};

interface Killed {
  where: Place;
  provider: ProviderServer;
  threadId: string;
  /** All that the client had been sent. */
  seen: Message[];
}

async function questionAsked(where: Place): Promise<{ heddle: HeddleProcess; threadId: string }> {
  const heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {});
  heddle.send(
    JSON.stringify({
      id: 'turn',
      method: 'turn/start',
      params: { threadId: thread.id, input: text('question') },
    }),
  );
  return { heddle, threadId: thread.id };
}

/** Checks that all is stored that the client has seen. The server may have been further. */
function expectKept(seen: Message[], turns: Turn[]): void {
  const answered = seen.some(({ id }) => id === 'turn');
  expect(turns.length).toBeLessThanOrEqual(1);
  if (!answered) return;
  const [turn] = turns;
  const items = new Map<string, ThreadItem>(turn?.items.map((item) => [item.id, item]));
  expect(brief(turn?.items ?? [])[0]).toBe('user: question');
  for (const { method, params = {} } of seen) {
    const { item, turn: announced } = params as { item: ThreadItem; turn: Turn };
    // A message of which no text was saved yet shows nothing.
    if (method === 'item/started' && item.type !== 'agentMessage')
      expect(items.has(item.id)).toBe(true);
    if (method === 'item/completed') expect(items.get(item.id)).toEqual(item);
    if (method === 'turn/started') expect(turn?.id).toBe(announced.id);
    if (method === 'turn/completed')
      expect(turn).toMatchObject({ status: 'completed', completedAt: announced.completedAt });
  }
  expect(['completed', 'interrupted']).toContain(turn?.status);
}

/** The messages of the last request to the model, with their roles. */
function askedLast(provider: ProviderServer): string[] {
  const body = provider.requests.at(-1)?.body as { input: ResponseItem[] } | undefined;
  return conversation({ input: body?.input ?? [] } as Parameters<typeof conversation>[0]).map(
    (item) =>
      item.type === 'message'
        ? shownMessage(
            item.role,
            item.content.map((part) => ('text' in part ? part.text : part.type)).join(''),
          )
        : item.type,
  );
}

/** The message that tells the model that the turn before was killed. */
const CUT_OFF = 'user: (cut off)';

function shownMessage(role: string, said: string): string {
  return said.startsWith(
    '<turn_interrupted>\nThe previous turn was cut off, because the server ended',
  )
    ? CUT_OFF
    : `${role}: ${said}`;
}

/** A provider that answers so, and the whole answer once it is asked again. */
async function providerSaying(reply: Reply): Promise<ProviderServer> {
  const provider: ProviderServer = await ProviderServer.start((res, req) =>
    (askedLast(provider).includes('user: again') ? whole : reply)(res, req),
  );
  return provider;
}

/** A new process reads and resumes the thread, and its next turn works. */
async function expectRecovered({
  where,
  provider,
  threadId,
  seen,
}: Killed): Promise<Turn | undefined> {
  const heddle = await startHeddle(where);
  const read = await heddle.request('thread/read', { threadId, includeTurns: true });
  const resumed = await heddle.request('thread/resume', { threadId });
  expect(resumed.thread.turns).toEqual(read.thread.turns);
  expectKept(seen, resumed.thread.turns);
  const [killed] = resumed.thread.turns;
  expect(await heddle.turn(threadId, 'again')).toMatchObject({ status: 'completed', error: null });
  const asked = askedLast(provider);
  const [first, ...rest] = asked;
  expect([first, asked.at(-1)]).toEqual([
    killed === undefined ? 'user: again' : 'user: question',
    'user: again',
  ]);
  // A message that was cut off is not sent again. A whole one may have been shown without being
  // stored as an answer.
  const shown = brief(killed?.items ?? []).map((item) => item.replace('agent: ', 'assistant: '));
  const answers = rest.filter((said) => said.startsWith('assistant: '));
  expect(answers).toEqual(shown.filter((said) => answers.includes(said)));
  expect(WHOLE_ANSWERS.slice(0, answers.length)).toEqual(answers);
  return killed;
}

describe('kill -9 while the model is silent', () => {
  const itemStarted = (type: ThreadItem['type']) => (sent: Message) =>
    sent.method === 'item/started' && (sent.params as { item: ThreadItem }).item.type === type;
  const itemCompleted = (item: string) => (sent: Message) =>
    sent.method === 'item/completed' &&
    brief([(sent.params as { item: ThreadItem }).item])[0] === item;
  const moments: {
    when: string;
    events: number;
    until: (sent: Message) => boolean;
    kept: string[];
    asked: string[];
  }[] = [
    {
      when: 'once turn/start is answered',
      events: 0,
      until: ({ id }) => id === 'turn',
      kept: ['user: question'],
      asked: [],
    },
    {
      when: 'once the turn has started',
      events: 0,
      until: ({ method }) => method === 'turn/started',
      kept: ['user: question'],
      asked: [],
    },
    {
      when: 'once reasoning has begun',
      events: 2,
      until: itemStarted('reasoning'),
      kept: ['user: question', 'reasoning'],
      asked: [],
    },
    {
      when: 'once reasoning is complete',
      events: 5,
      until: itemCompleted('reasoning'),
      kept: ['user: question', 'reasoning'],
      asked: [],
    },
    {
      when: 'once a message has begun with its first text',
      events: 7,
      until: itemStarted('agentMessage'),
      kept: ['user: question', 'reasoning'],
      asked: [],
    },
    {
      when: 'once a message is complete',
      events: 8,
      until: itemCompleted('agent: first answer'),
      kept: ['user: question', 'reasoning', 'agent: first answer'],
      asked: ['reasoning', 'assistant: first answer'],
    },
    {
      when: 'once the last message is complete',
      events: 11,
      until: itemCompleted('agent: second answer'),
      kept: ['user: question', 'reasoning', 'agent: first answer', 'agent: second answer'],
      asked: ['reasoning', 'assistant: first answer', 'assistant: second answer'],
    },
  ];

  test.each(moments)(
    '$when: what there was to show is there, and the model reads what was whole',
    async ({ events, until, kept, asked }) => {
      await using provider = await providerSaying(upTo(events));
      const where = place({ 'config.toml': providerToml(provider.port) });
      const { heddle, threadId } = await questionAsked(where);
      await heddle.first('the moment', until);
      await heddle.kill();
      const killed = await expectRecovered({ where, provider, threadId, seen: heddle.messages });
      expect(killed).toMatchObject({
        status: 'interrupted',
        error: null,
        completedAt: expect.any(Number),
      });
      expect(brief(killed?.items ?? [])).toEqual(kept);
      expect(askedLast(provider)).toEqual(['user: question', ...asked, CUT_OFF, 'user: again']);
    },
  );

  test('once a thread is there: it is resumed by its id', async () => {
    const where = place();
    const heddle = await startHeddle(where);
    const { thread } = await heddle.request('thread/start', {});
    await heddle.kill();
    const again = await startHeddle(where);
    expect((await again.request('thread/resume', { threadId: thread.id })).thread).toEqual(thread);
    expect(await again.turn(thread.id, 'hello')).toMatchObject({ status: 'completed' });
  });
});

test('kill -9 in the middle of a message: all of it is there but for its last second', {
  timeout: 30_000,
}, async () => {
  const words = Array.from({ length: 25 }, (_, index) => `word${index} `);
  const wordByWord: Reply = async (res) => {
    begin(res);
    const [added] = message('');
    for (const event of [created, added as object]) res.write(sse(event));
    for (const delta of words) {
      res.write(
        sse({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta }),
      );
      await after(WORD_MS);
    }
  };
  await using provider = await providerSaying(wordByWord);
  const where = place({ 'config.toml': providerToml(provider.port) });
  const { heddle, threadId } = await questionAsked(where);
  const word = (count: number) => () =>
    heddle.notifications('item/agentMessage/delta').length >= count;
  await heddle.first('the eighth word', word(8));
  const oldEnough = words.slice(0, 8).join('');
  const seenAt = performance.now();
  await heddle.first('the last word', word(words.length));
  expect(performance.now() - seenAt).toBeGreaterThan(LOST_MS_MAX);
  await heddle.kill();
  const killed = await expectRecovered({ where, provider, threadId, seen: heddle.messages });
  const partial = killed?.items.at(-1);
  const kept = partial?.type === 'agentMessage' ? partial.text : '';
  expect(words.join('').startsWith(kept)).toBe(true);
  expect(kept.startsWith(oldEnough)).toBe(true);
  expect(askedLast(provider)).toEqual(['user: question', CUT_OFF, 'user: again']);
});

test('kill -9 after any message of a turn: nothing that was announced is lost', async () => {
  await using provider = await providerSaying(eventByEvent);
  const where = place({ 'config.toml': providerToml(provider.port) });
  for (let count = 1, over = false; !over; count++) {
    const { heddle, threadId } = await questionAsked(where);
    const seen = await heddle.take(count);
    heddle.signal('SIGKILL');
    await heddle.ended;
    over = seen.some(({ method }) => method === 'turn/completed');
    await expectRecovered({ where, provider, threadId, seen: heddle.messages });
    expect(count).toBeLessThan(50);
  }
});
