import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ReviewTarget } from '../../src/protocol/generated/types.ts';
import { idOf } from '../support/counting-ids.ts';
import { failed, functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';
import { FREE_CONFIG } from '../tools/command-server.ts';

const VERDICT = '{"findings":[],"overall_explanation":"Fine."}';
const UNCOMMITTED = { type: 'uncommittedChanges' } as const;
const LINES = 3_000;

/** A server whose working directory has a file of many lines, of about 10,000 tokens. */
async function withLongFile(config: string, model: TestModel) {
  const server = await startServer({ config, model });
  const lines = Array.from({ length: LINES }, (_, line) => `line ${line} of it`);
  writeFileSync(join(server.cwd, 'long.txt'), lines.join('\n'));
  await server.client.request('thread/start', {});
  return server;
}

const reads = (number: number, first = '') =>
  response(
    functionCall(
      'exec_command',
      { cmd: `${first}cat long.txt; echo end-${number}`, max_output_tokens: 20_000 },
      { callId: `c${number}` },
    ),
  );

/** The length of a request. */
const size = ({ input }: { input: unknown[] }) => JSON.stringify(input).length;

test('a review that reads more than the context window goes on without its oldest outputs, is told so once, and reports', async () => {
  const count = 16;
  const answers = Array.from({ length: count }, (_, number) => reads(number));
  const model = new TestModel(...answers, response(message(VERDICT)));
  const { client } = await withLongFile(`model_context_window = 40000\n${FREE_CONFIG}`, model);
  const { turn } = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
  expect(await client.turnCompleted(turn.id)).toMatchObject({
    status: 'completed',
    items: [{ text: 'Fine.' }],
  });
  expect(model.requests).toHaveLength(count + 1);
  for (const request of model.requests) expect(size(request) / 4).toBeLessThan(40_000);
  const last = JSON.stringify(model.request(count + 1).input);
  expect(last).toContain(`end-${count - 1}`);
  expect(last).not.toContain('end-0');
  expect(last).toContain('Review the uncommitted changes');
  expect(last.split('close to the limit of your context window')).toHaveLength(2);
});

test('a review whose prompt the provider refuses as too long is asked again with less, until nothing can be left out', async () => {
  const tooLong = [failed('too long', 'contextWindowExceeded')];
  const model = new TestModel(reads(1), reads(2), tooLong, tooLong, response(message(VERDICT)));
  const { client } = await withLongFile(FREE_CONFIG, model);
  const { turn } = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
  expect(await client.turnCompleted(turn.id)).toMatchObject({
    status: 'completed',
    items: [{ text: 'Fine.' }],
  });
  const [, , third, fourth, fifth] = model.requests.map(size);
  expect([third, fourth, fifth]).toEqual(
    [third, fourth, fifth].toSorted((a, b) => Number(b) - Number(a)),
  );
  model.push(...Array.from({ length: 10 }, () => tooLong));
  const second = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
  expect(await client.turnCompleted(second.turn.id)).toMatchObject({
    status: 'failed',
    error: { message: 'too long' },
  });
  expect(model.requests).toHaveLength(6);
});

test('a review that is refused as too long while a command runs leaves out its oldest outputs when the command has ended', async () => {
  const refused = [
    ...reads(2, 'sleep 0.3; ').slice(0, -1),
    failed('too long', 'contextWindowExceeded'),
  ];
  const model = new TestModel(reads(1), refused, response(message(VERDICT)));
  const { client } = await withLongFile(FREE_CONFIG, model);
  const { turn } = await client.request('review/start', { threadId: idOf(1), target: UNCOMMITTED });
  expect(await client.turnCompleted(turn.id)).toMatchObject({
    status: 'completed',
    items: [{ text: 'Fine.' }],
  });
  expect(model.requests).toHaveLength(3);
  const [, second = 0, third] = model.requests.map(size);
  // Half of a prompt with both outputs is less than one output.
  expect(third).toBeLessThan(second / 2);
});

test('a review whose task alone is too long for the model fails, and says what to do', async () => {
  const server = await startServer({ config: `model_context_window = 20000\n${FREE_CONFIG}` });
  await server.client.request('thread/start', {});
  const target: ReviewTarget = { type: 'custom', instructions: 'abc '.repeat(21_000) };
  const { turn } = await server.client.request('review/start', { threadId: idOf(1), target });
  expect(await server.client.turnCompleted(turn.id)).toMatchObject({
    status: 'failed',
    error: {
      message: expect.stringContaining('Review fewer changes'),
      codexErrorInfo: 'contextWindowExceeded',
    },
  });
  expect(server.model.requests).toEqual([]);
});

test('a target that is longer than the input of a turn may be is refused, and a long one is named by its beginning', async () => {
  const server = await startServer({
    model: new TestModel(response(message(VERDICT)), response(message('ok'))),
  });
  const { client, model } = server;
  await client.request('thread/start', {});
  const long = 'x'.repeat(1_048_577);
  const targets: ReviewTarget[] = [
    { type: 'custom', instructions: long },
    { type: 'baseBranch', branch: long },
    { type: 'commit', sha: 'abc', title: long },
  ];
  for (const target of targets)
    expect((await client.refusal('review/start', { threadId: idOf(1), target })).data.code).toBe(
      'input_too_large',
    );
  const instructions = `Look at ${'y'.repeat(2_000)} to its end`;
  const { turn } = await client.request('review/start', {
    threadId: idOf(1),
    target: { type: 'custom', instructions },
  });
  await client.turnCompleted(turn.id);
  const shown = client
    .notifications('item/completed')
    .flatMap(({ item }) => (item.type === 'enteredReviewMode' ? [item.review] : []));
  expect(shown).toEqual([`${instructions.slice(0, 499)}…`]);
  await client.turn(idOf(1), 'next');
  expect(JSON.stringify(model.request(1).input)).toContain(instructions);
  expect(JSON.stringify(model.request(2).input)).not.toContain('to its end');
});

test('without commands, no review begins: a running turn is left alone', async () => {
  const server = await startServer({ config: `${FREE_CONFIG}[features]\nshell_tool = false\n` });
  const { client } = server;
  await client.request('thread/start', {});
  for (const delivery of ['inline', 'detached'] as const) {
    const {
      code,
      message: text,
      data,
    } = await client.refusal('review/start', { threadId: idOf(1), target: UNCOMMITTED, delivery });
    expect([code, text, data.code]).toEqual([
      -32600,
      expect.stringContaining('features.shell_tool is false'),
      'reviews_disabled',
    ]);
  }
  expect((await client.request('thread/loaded/list', {})).data).toEqual([idOf(1)]);
});
