import { expect, test } from 'vitest';
import { place, startHeddle } from './support.ts';

test('requests that come while the server ends are carried out, or refused with shutting_down', async () => {
  const heddle = await startHeddle(place({ 'config.toml': 'model_provider = "scripted"\n' }));
  const { thread } = await heddle.request('thread/start', {});
  await heddle.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'wait 60000' }] });
  const line = (index: number) =>
    JSON.stringify({ id: `late-${index}`, method: 'thread/read', params: { threadId: thread.id, includeTurns: true } });
  const send = (from: number) => heddle.send(Array.from({ length: 100 }, (_, index) => line(from + index)).join('\n'));
  send(0);
  heddle.signal('SIGTERM');
  for (let from = 100; from < 1_000 && !heddle.hasEnded; from += 100) {
    send(from);
    await new Promise(setImmediate);
  }
  await heddle.exit;
  const answers = heddle.messages.filter(({ id }) => String(id).startsWith('late-'));
  const errors = answers.flatMap(({ error }) => (error === undefined ? [] : [error]));
  expect(errors.filter(({ data }) => (data as { code: string }).code !== 'shutting_down')).toEqual([]);
  expect(answers.length).toBeGreaterThan(0);
});
