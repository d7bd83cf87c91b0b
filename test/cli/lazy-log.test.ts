import { expect, test } from 'vitest';
import { lazyLog } from '../../src/cli/log/lazy-log.ts';

test('a line of the log has no control characters, which a terminal would obey', () => {
  const lines: string[] = [];
  const log = lazyLog('info', (line) => lines.push(line));
  const path = '/project/\x1b[2K\x9b2K\x7f\u202e\u200b\u2028';
  log.warn({ path }, 'a file');
  expect(lines).toHaveLength(1);
  expect(lines[0]?.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ path, msg: 'a file' });
});
