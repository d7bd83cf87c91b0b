import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Timer } from '../../src/base/clock.ts';
import { createScriptedModel } from '../../src/model/script/create-scripted-model.ts';
import type { ModelScript } from '../../src/protocol/generated/model-script.ts';
import type { ThreadItem, TurnError } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type TestClient, text } from '../support/test-client.ts';
import { startServer } from '../support/test-server.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A clock on which every wait of a script ends at once. */
class HurryingClock extends FakeClock {
  override setTimer(callback: () => void, ms: number): Timer {
    if (ms <= SCRIPT_WAIT_MS_MAX) setImmediate(() => this.advance(ms));
    return super.setTimer(callback, ms);
  }
}

/** The longest wait in the scripts of this file. The server's own waits are longer. */
const SCRIPT_WAIT_MS_MAX = 2_000;

/** A thread whose model follows a script. */
async function following(script: string | ModelScript) {
  const clock = new HurryingClock();
  const model = createScriptedModel(script, { clock });
  const config = 'show_raw_agent_reasoning = true\nmodel_provider = "scripted"\n';
  const server = await startServer({ otherModel: model, clock, config });
  await server.client.request('thread/start', {});
  return { ...server, script: model };
}

/**
 * A turn as lines: the messages that a client gets until it ends. It is interrupted after the
 * model's text `until`.
 */
async function play(
  client: TestClient,
  input: string,
  until: string | null = null,
): Promise<string[]> {
  const start = client.messages.length;
  const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text(input) });
  if (until !== null) {
    await client.waitFor(
      'item/completed',
      ({ item }) => item.type === 'agentMessage' && item.text === until,
    );
    await client.request('turn/interrupt', { threadId: idOf(1), turnId: turn.id });
  }
  await client.turnCompleted(turn.id);
  return client.messages
    .slice(start)
    .flatMap(({ method, params }) => seen(method, (params ?? {}) as Seen));
}

interface Seen {
  item: ThreadItem;
  error: TurnError;
  willRetry: boolean;
  plan: { step: string; status: string }[];
  turn: { status: string };
}

function seen(method: string | undefined, { item, error, willRetry, plan, turn }: Seen): string[] {
  if (method === 'item/completed' && item.type !== 'userMessage') return [itemLine(item)];
  if (method === 'error') return [`${willRetry ? 'retrying' : 'failed'}: ${error.message}`];
  if (method === 'turn/plan/updated')
    return [`plan: ${plan.map(({ step, status }) => `${step} ${status}`).join(', ')}`];
  return method === 'turn/completed' ? [turn.status] : [];
}

function itemLine(item: ThreadItem): string {
  if (item.type === 'agentMessage') return `says: ${item.text}`;
  if (item.type === 'reasoning')
    return `thinks: ${[...(item.summary ?? []), ...(item.content ?? [])].join(' / ')}`;
  return item.type;
}

describe('each script of docs/scripted-model.md, and of its page on matching, runs as documented', () => {
  // Another test runs the recipes.
  const pages = ['docs/scripted-model.md', 'docs/scripted-model/matching.md'];
  const docs = pages.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n');
  const blocks = [...docs.matchAll(/^```yaml\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
  const done = 'completed';

  /** The user's input, and the lines that follow. */
  const runs: [string, string[]][][] = [
    [
      ['hi', ['says: Hello! What can I do for you?', done]],
      [
        'a refund, please',
        [
          'thinks: They want their money back.',
          'plan: Look up the order inProgress, Refund it pending',
          'plan: Look up the order completed, Refund it completed',
          'says: Done, and sorry for the trouble.',
          done,
        ],
      ],
      ['Thanks!', ['says: You are welcome.', done]],
    ],
    [
      ['1', ['says: A text is a message.', done]],
      ['2', ['says: A text with a colon: it needs quotes.', done]],
      ['3', ['plan: ', 'thinks: Several steps.', 'says: In one response.', done]],
      ['4', ['says: One.', 'says: Two.', done]],
      ['5', ['says: One.', 'says: Two.', done]],
    ],
    [
      ['1', ['says: Deltas as they are written.', done]],
      ['2', ['says: Four characters to a delta, and half a second between two.', done]],
      ['3', ['says: I am on it.', 'says: All in one delta.', done]],
    ],
    [
      [
        '1',
        [
          'thinks: **Looking around** One summary of one part.',
          'thinks: **First** / **Second**',
          'thinks: **Counting** / One, two, three.',
          'says: Three.',
          done,
        ],
      ],
    ],
    [['1', ['plan: Look inProgress', 'plan: Look completed', 'says: There it is.', done]]],
    [['1', ['webSearch', 'says: It rains.', done]]],
    [
      ['1', ['says: Counted.', done]],
      ['2', ['says: Not told.', done]],
    ],
    [
      ['1', ['failed: You have used up your limit. Come back at 9.', 'failed']],
      ['2', ['failed: The scripted model answered HTTP 503.', 'failed']],
      [
        '3',
        [
          'says: Half a mess',
          'failed: The scripted model ended its stream before the response was complete.',
          'failed',
        ],
      ],
      [
        '4',
        [
          'retrying: The scripted model could not answer: the script fails with serverOverloaded.',
          'says: Lost',
          'retrying: The scripted model ended its stream before the response was complete.',
          'says: The third attempt answers.',
          done,
        ],
      ],
      ['5', ['says: Let me think.', 'interrupted']],
    ],
    [
      ['Hello there', ['says: Hello.', done]],
      ['the weather?', ['plan: Look out of the window inProgress', 'says: It rains.', done]],
      ['what?', ['says: For whatever else is asked.', done]],
      ['Good bye', ['says: Good bye.', done]],
      ['what?', ['says: For whatever else is asked.', done]],
    ],
    [
      ['build', ['says: Building.', done]],
      ['and now?', ['says: Still building.', done]],
      ['and now?', ['says: Still building.', done]],
      ['stop', ['says: Stopped.', done]],
    ],
  ];

  test.each(runs.map((turns, index) => ({ turns, block: blocks[index] ?? '', number: index + 1 })))(
    'number $number',
    async ({ turns, block }) => {
      const { client, script } = await following(block);
      for (const [input, expected] of turns) {
        const until = expected.at(-1) === 'interrupted' ? 'Let me think.' : null;
        expect(await play(client, input, until)).toEqual(expected);
      }
      script.assertFollowed();
    },
  );

  describe('and the documented failures of the first one happen', () => {
    const [refund = ''] = blocks;

    test('a response that is left over, and a request without a response', async () => {
      const { client, script } = await following(refund);
      await play(client, 'hi');
      const [failed = ''] = await play(client, 'I want a refnud');
      expect(docs).toContain(`\n${failed.replace('failed: ', '')}\n`);
      await play(client, 'refund');
      const report = script.report() ?? '';
      expect(docs).toContain(`\n${report.slice(report.indexOf('1 response not used'))}\n`);
    });

    test('a mistake in the script', () => {
      const wrong = refund
        .replace('user: refund', 'usr: refund')
        .replace('order: completed', 'order: complete');
      let message = '';
      try {
        createScriptedModel(wrong, { file: '/home/me/refund.yaml' });
      } catch (error) {
        if (error instanceof Error) message = error.message;
      }
      expect(message).toContain('3:12');
      for (const line of message.split('\n')) expect(docs).toContain(`${line}\n`);
    });
  });

  test('and there are no other scripts', () => {
    expect(blocks).toHaveLength(runs.length);
  });
});

describe('a provider with a script', () => {
  const config =
    'model_provider = "rehearsal"\n[model_providers.rehearsal]\nscript = "talk.yaml"\n';
  const files = (script: string) => ({ 'home/talk.yaml': script });

  test('serves its threads from one shared script; a file beside config.toml is found', async () => {
    const { client } = await startServer({
      model: null,
      config,
      files: files('- one\n- two\n- three'),
    });
    expect(await client.request('thread/start', {})).toMatchObject({
      modelProvider: 'rehearsal',
      model: 'scripted',
    });
    await client.request('thread/start', {});
    const said: unknown[] = [];
    for (const thread of [1, 2]) said.push((await client.turn(idOf(thread), 'hi')).items);
    expect(said).toMatchObject([[{ text: 'one' }], [{ text: 'two' }]]);
  });

  test('threads that start at the same time share one sequence', async () => {
    const { client } = await startServer({ model: null, config, files: files('- one\n- two') });
    const threads = await Promise.all([
      client.request('thread/start', {}),
      client.request('thread/start', {}),
    ]);
    const turns = await Promise.all(threads.map(({ thread }) => client.turn(thread.id, 'hi')));
    expect(new Set(turns.map(({ items }) => JSON.stringify(items).includes('one')))).toEqual(
      new Set([true, false]),
    );
  });

  test('a mistake in the script refuses the threads that need it, until it is corrected', async () => {
    const { client, home } = await startServer({
      model: null,
      config,
      files: files('- one\n- mesage: two\n'),
    });
    const file = join(home, 'talk.yaml');
    const { message, data } = await client.refusal('thread/start', {});
    expect(data).toEqual({ code: 'config_invalid' });
    expect(message).toContain(
      `invalid config: ${file}:2:3: response 2: unknown key "mesage": expected one of message, `,
    );
    expect((await client.request('thread/list', {})).data).toEqual([]);
    await client.request('thread/start', { modelProvider: 'scripted' });
    rmSync(file);
    expect((await client.refusal('thread/start', {})).message).toBe(
      `invalid config: ${file}: the model script does not exist`,
    );
    writeFileSync(file, '- one');
    const { thread } = await client.request('thread/start', {});
    expect(await client.turn(thread.id, 'hi')).toMatchObject({
      status: 'completed',
      items: [{ text: 'one' }],
    });
  });

  test.each([
    [
      'a folder',
      (file: string) => mkdirSync(file),
      /the model script cannot be read: .*is not a regular file/,
    ],
    [
      'no UTF-8',
      (file: string) => writeFileSync(file, Buffer.from([0x2d, 0x20, 0xff])),
      /: the model script is not valid UTF-8$/,
    ],
    [
      'too long',
      (file: string) => writeFileSync(file, Buffer.alloc(17 << 20)),
      /the model script has 17825792 bytes; at most 16777216 are allowed$/,
    ],
  ])('%s in its place is told', async (_what, put, expected) => {
    const { client, home } = await startServer({ model: null, config });
    put(join(home, 'talk.yaml'));
    expect((await client.refusal('thread/start', {})).message).toMatch(expected);
  });

  test('a thread/start can name the script', async () => {
    const { client, home } = await startServer({ model: null, config: '', files: files('- one') });
    const { thread } = await client.request('thread/start', {
      modelProvider: 'mine',
      config: { 'model_providers.mine.script': join(home, 'talk.yaml') },
    });
    expect(await client.turn(thread.id, 'hi')).toMatchObject({ items: [{ text: 'one' }] });
  });
});

test('a request that no response matches fails its turn and says what was expected; the next turn tries again', async () => {
  const { client, script, log } = await following('- { match: { user: hello }, reply: Hello. }');
  const expected = `The model script has no response for request 1 (thread 1, turn 1).
  expected response 1 (line 1)
  - user: text that contains "hello"
  + user: "good morning"`;
  expect(await play(client, 'good morning')).toEqual([`failed: ${expected}`, 'failed']);
  expect(await play(client, 'hello')).toEqual(['says: Hello.', 'completed']);
  expect(script.report()).toContain('"good morning"');
  expect(JSON.stringify(log.lines)).not.toContain('good morning');
});

test('steering takes one more response', async () => {
  const { client, script } = await following(
    '- [Slowly., { hang: true }]\n- { match: { user: faster }, reply: Done. }',
  );
  const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('go') });
  await client.waitFor('item/completed', ({ item }) => item.type === 'agentMessage');
  await client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: turn.id,
    input: text('faster'),
  });
  expect(await client.turnCompleted(turn.id)).toMatchObject({
    status: 'completed',
    items: [{ text: 'Done.' }],
  });
  script.assertFollowed();
});

test('clients see the usage of a scripted response', async () => {
  const { client } = await following([
    { reply: 'x', usage: { input: 1200, cached: 1000, output: 80, reasoning: 16 } },
  ]);
  await client.turn(idOf(1), 'hi');
  expect((await client.waitFor('thread/tokenUsage/updated')).tokenUsage.last).toMatchObject({
    inputTokens: 1200,
    cachedInputTokens: 1000,
    outputTokens: 80,
    reasoningOutputTokens: 16,
    totalTokens: 1280,
  });
});
