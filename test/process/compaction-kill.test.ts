// @module-tag slow
import { expect, test } from 'vitest';
import { isObject } from '../../src/base/json-value.ts';
import {
  completed,
  created,
  message,
  ProviderServer,
  refusing,
  streaming,
} from '../model/provider-server.ts';
import { text } from '../support/test-client.ts';
import { place, providerToml, startHeddle } from './support.ts';

const usage = {
  input_tokens: 12_000,
  input_tokens_details: null,
  output_tokens: 5,
  output_tokens_details: null,
  total_tokens: 12_005,
};
const long = streaming(created, ...message('an answer'), {
  ...completed,
  response: { id: 'resp_1', usage },
});
const summary = streaming(created, ...message('SUMMARY'), completed);

/**
 * A provider that summarizes requests without tools, and makes each turn so long that the next one
 * compacts. It lists no models.
 */
const provider = () =>
  ProviderServer.start((res, req, body) => {
    const hasTools = isObject(body) && Array.isArray(body.tools) && body.tools.length > 0;
    const reply = req.method === 'GET' ? refusing(404) : hasTools ? long : summary;
    return reply(res, req, body);
  });

const config = (port: number) => `model_auto_compact_token_limit = 10000\n${providerToml(port)}`;

/** A thread with one turn, and how its second turn or its compaction is begun. */
const BEGINNINGS = {
  'a turn that compacts first': { method: 'turn/start', more: { input: text('two') } },
  'thread/compact/start': { method: 'thread/compact/start', more: {} },
} as const;

for (const [name, { method, more }] of Object.entries(BEGINNINGS)) {
  test(`${name}, killed after each of its messages: the thread is whole, and its next turn is answered`, async () => {
    await using served = await provider();
    for (let count = 0, isOver = false; !isOver; count++) {
      const where = place({ 'config.toml': config(served.port) });
      const killed = await startHeddle(where);
      const { thread } = await killed.request('thread/start', {});
      const threadId = thread.id;
      expect(await killed.turn(threadId, 'one')).toMatchObject({ status: 'completed' });
      killed.send(JSON.stringify({ id: 'begin', method, params: { threadId, ...more } }));
      const seen = await killed.take(count);
      isOver = seen.some((one) => one.method === 'turn/completed');
      await killed.kill();
      const heddle = await startHeddle(where);
      const { thread: resumed } = await heddle.request('thread/resume', { threadId });
      const items = resumed.turns.flatMap((turn) => turn.items);
      const compactions = items.filter(({ type }) => type === 'contextCompaction').length;
      const hasSeen = seen.some((one) => one.method === 'thread/compacted');
      if (hasSeen) expect(compactions).toBe(1);
      expect(compactions).toBeLessThanOrEqual(1);
      expect({ count, ...(await heddle.turn(threadId, 'three')) }).toMatchObject({
        count,
        status: 'completed',
        error: null,
      });
      const asked = JSON.stringify(served.requests.at(-1)?.body);
      expect(asked.includes('SUMMARY') || asked.includes('an answer')).toBe(true);
      expect(asked).toContain('three');
      await heddle.finish();
    }
  }, 180_000);
}
