import { pino } from 'pino';
import { expect, test } from 'vitest';
import { RecentLog } from '../../src/services/recent-log.ts';
import { START_MS } from '../support/expected.ts';
import { FakeClock } from '../support/fake-clock.ts';

test('passes messages on to a pino logger, and keeps the last ones', () => {
  const lines: string[] = [];
  const log = new RecentLog(
    pino({ base: null, level: 'debug' }, { write: (line) => lines.push(line) }),
    new FakeClock(),
  );
  const at = new Date(START_MS).toISOString();
  log.debug('not kept');
  log.info({ threadId: 't' }, 'a turn ended');
  log.warn('careful');
  log.error({ err: new Error('broken') }, 'failed');
  expect(lines).toHaveLength(4);
  const [info, warn, error] = log.messages().map((line) => JSON.parse(line));
  expect(info).toEqual({ at, level: 'info', text: 'a turn ended', threadId: 't' });
  expect(warn).toEqual({ at, level: 'warn', text: 'careful' });
  expect(error).toMatchObject({ level: 'error', err: expect.stringMatching(/^Error: broken\n/) });
});

test('keeps 500 messages, of each at most 8 KiB, whatever their fields are', () => {
  const nothing = () => {};
  const log = new RecentLog(
    { debug: nothing, info: nothing, warn: nothing, error: nothing },
    new FakeClock(),
  );
  for (let number = 0; number < 1_500; number++) log.info({ number }, 'x');
  expect(log.messages()).toHaveLength(500);
  expect(JSON.parse(log.messages()[0] ?? '')).toMatchObject({ number: 1_000 });
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  log.warn({ circle }, 'odd');
  log.warn({ long: 'x'.repeat(10_000) }, 'long');
  const [odd = '', long = ''] = log.messages().slice(-2);
  expect(JSON.parse(odd)).toMatchObject({ level: 'warn', text: 'odd' });
  expect(long.length).toBeLessThanOrEqual(8 * 1024);
});
