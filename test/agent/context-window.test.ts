import { expect, test } from 'vitest';
import { itemSize } from '../../src/agent/prompt/item-size.ts';
import { idOf } from '../support/counting-ids.ts';
import { asked, message, response, textOfTokens } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

const CONFIG = `model = "m"\nmodel_provider = "test"\nmodel_context_window = 20000\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n`;
const usage = (inputTokens: number) => ({
  totalTokens: inputTokens + 5,
  inputTokens,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 5,
  reasoningOutputTokens: 0,
});

test('a prompt beyond the context window is not sent: the turn fails and says what to do', async () => {
  const server = await startServer({ config: CONFIG });
  server.model.push(response(message('first')));
  await server.client.request('thread/start', {});
  const first = await server.client.turn(idOf(1), 'one');
  const failed = await server.client.turn(idOf(1), textOfTokens(21_000));
  expect(failed).toMatchObject({
    status: 'failed',
    error: { codexErrorInfo: 'contextWindowExceeded' },
  });
  expect(failed.error?.message).toMatch(
    /about 2\d\d\d\d tokens, and the context window of m has 20000\. Send a shorter input, or choose a model with a larger context window/,
  );
  expect(server.model.requests).toHaveLength(1);
  await server.client.request('thread/revert', { threadId: idOf(1), beforeTurnId: failed.id });
  server.model.push(response(message('second')));
  expect(await server.client.turn(idOf(1), 'two')).toMatchObject({ status: 'completed' });
  const fork = await server.client.request('thread/fork', {
    threadId: idOf(1),
    lastTurnId: first.id,
  });
  server.model.push(response(message('third')));
  expect(await server.client.turn(fork.thread.id, 'three')).toMatchObject({ status: 'completed' });
});

test('the estimate is corrected by what the provider counted last, also after a restart', async () => {
  const server = await startServer({ config: CONFIG });
  server.model.push([...message('first'), { type: 'completed', usage: usage(19_000) }]);
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'one');
  const restarted = await server.restart();
  await restarted.client.request('thread/resume', { threadId: idOf(1) });
  // The prompt is near the window, so it is compacted: two requests.
  server.model.push(response(message('a summary')), response(message('second')));
  expect(await restarted.client.turn(idOf(1), textOfTokens(1_500))).toMatchObject({
    status: 'completed',
  });
  expect(server.model.requests).toHaveLength(3);
});

test('a prompt that the provider counted as short is sent, however long its text', async () => {
  const server = await startServer({ config: CONFIG });
  server.model.push(
    [...message('first'), { type: 'completed', usage: usage(10_000) }],
    response(message('second')),
  );
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), textOfTokens(19_000));
  expect(await server.client.turn(idOf(1), textOfTokens(5_000))).toMatchObject({
    status: 'completed',
  });
});

test('an image counts by its pixels, not by its data', () => {
  const image = {
    type: 'input_image' as const,
    image_url: `data:image/png;base64,${'A'.repeat(1_000_000)}`,
  };
  const { tokens, bytes } = itemSize({ type: 'message', role: 'user', content: [image] });
  expect(tokens).toBe(1_600);
  expect(bytes).toBeGreaterThan(1_000_000);
  expect(itemSize(asked('abcdabcd')).tokens).toBe(2);
});
