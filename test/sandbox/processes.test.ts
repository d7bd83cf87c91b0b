import { describe, expect, test, vi } from 'vitest';
import { livingWith, uniqueSleep } from './living-with.ts';
import { run, systemProcesses } from './processes.ts';

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
    const sleep = uniqueSleep();
    const running = await run(systemProcesses(), `${script(sleep)}\n echo up; cat`, { input: true });
    await running.says('up');
    await vi.waitFor(() => expect(livingWith(sleep)).toContain(sleep));
    await running.kill();
    expect(livingWith(sleep)).toEqual([]);
    expect(await running.ended).toEqual({ exitCode: 137, allRead: true });
  });
});

describe('a terminal', () => {
  const terminal = { rows: 20, cols: 90 };

  test('is of the asked size, is its own, and gives all output', async () => {
    const processes = systemProcesses();
    for (let round = 0; round < 20; round++) {
      const running = await run(processes, 'test -t 0 && tty; stty size </dev/tty; seq 1 3000; echo END', { terminal });
      expect(await running.ended).toEqual({ exitCode: 0, allRead: true });
      const lines = Array.from({ length: 3000 }, (_, index) => index + 1);
      expect(running.text.stdout.replace(/^\/dev\/pts\/\d+\r\n/, '').split('\r\n')).toEqual(['20 90', ...lines.map(String), 'END', '']);
    }
  });

  test('is typed into, resized and ended', async () => {
    const running = await run(systemProcesses(), 'read x; echo "got $x"; stty size; cat; echo over', { terminal });
    running.resize({ rows: 33, cols: 44 });
    await running.write(Buffer.from('hey\n'));
    await running.says('33 44');
    await running.write(Buffer.from('half'));
    running.endInput();
    expect(await running.ended).toEqual({ exitCode: 0, allRead: true });
    expect(running.text.stdout).toBe('hey\r\ngot hey\r\n33 44\r\nhalfhalfover\r\n');
  });

  test('is not passed on to what is started beside it', async () => {
    const processes = systemProcesses();
    const first = await run(processes, 'cat', { terminal });
    const second = await run(processes, 'ls -l /proc/self/fd');
    const third = await run(processes, 'ls -l /proc/self/fd', { terminal });
    await Promise.all([second.ended, third.ended]);
    expect(second.text.stdout + third.text.stdout).not.toContain('ptmx');
    await first.kill();
    expect(await first.ended).toEqual({ exitCode: 137, allRead: true });
  });
});
