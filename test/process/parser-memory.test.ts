import { expect, test } from 'vitest';
import { place, startHeddle } from './support.ts';

const COMMANDS = 400;
const GROWTH_MB_MAX = 120;

test('parsing commands takes little memory, with every version of Node', {
  tags: 'slow',
}, async () => {
  const heddle = await startHeddle(place());
  const { thread } = await heddle.request('thread/start', { approvalPolicy: 'never' });
  await heddle.turn(thread.id, 'hi');
  const before = heddle.memory().now;
  const line = (index: number) =>
    `cd /nowhere && ls -la "$x${index}" | grep foo > out.txt; for a in 1 2 3; do echo $a; done`;
  // Policy refuses them after it has parsed them, so no process is started.
  const call = (index: number) =>
    `call exec_command ${JSON.stringify({ cmd: line(index), sandbox_permissions: 'require_escalated' })}`;
  for (let from = 0; from < COMMANDS; from += 40) {
    await heddle.turn(
      thread.id,
      Array.from({ length: 40 }, (_, index) => call(from + index)).join('\n'),
    );
  }
  await heddle.atRest();
  expect(heddle.memory().peak - before).toBeLessThan(GROWTH_MB_MAX);
});
