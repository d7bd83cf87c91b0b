import { describe, expect, test, vi } from 'vitest';
import { livingWith, run, systemProcesses } from './processes.ts';

let count = 0;
/** A time to sleep that tells the test's processes from all others. */
function uniqueSeconds(): string {
  return `${100_000 + (process.pid % 90_000)}.${String(++count).padStart(3, '0')}7`;
}

describe('killing', () => {
  const ways: [string, (sleep: string) => string][] = [
    ['a child', (sleep) => `${sleep} &`],
    ['a grandchild', (sleep) => `sh -c '${sleep} & wait' &`],
    ['one that was orphaned', (sleep) => `(${sleep} &)`],
    ['one of another session', (sleep) => `setsid ${sleep} &`],
    ['one that a terminal would not hang up', (sleep) => `nohup ${sleep} >/dev/null 2>&1 &`],
    ['a daemon', (sleep) => `setsid sh -c '(setsid nohup ${sleep} >/dev/null 2>&1 </dev/null &)'`],
    ['a daemon without an environment', (sleep) => `setsid sh -c '(env -i setsid nohup ${sleep} >/dev/null 2>&1 </dev/null &)'`],
    ['one that heeds no signal', (sleep) => `trap "" TERM INT HUP; ${sleep} &`],
  ];
  test.each(ways)('%s', async (_what, script) => {
    const sleep = `sleep ${uniqueSeconds()}`;
    const running = await run(systemProcesses(), `${script(sleep)}\n echo up; cat`, { input: true });
    await running.says('up');
    await vi.waitFor(() => expect(livingWith(sleep)).toContain(sleep));
    await running.kill();
    expect(livingWith(sleep)).toEqual([]);
    expect(await running.ended).toEqual({ exitCode: 137 });
  });
});
