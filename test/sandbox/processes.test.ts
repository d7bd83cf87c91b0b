import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ProcessStartError } from '../../src/sandbox/processes/processes.ts';
import { livingWith, uniqueSleep } from './living-with.ts';
import { PATH, run, systemProcesses } from './processes.ts';

describe('killing', () => {
  const ways: [string, (sleep: string) => string][] = [
    ['a child', (sleep) => `${sleep} &`],
    ['a grandchild', (sleep) => `sh -c '${sleep} & wait' &`],
    ['one that was orphaned', (sleep) => `(${sleep} &)`],
    ['one of another session', (sleep) => `setsid ${sleep} &`],
    ['one that a terminal would not hang up', (sleep) => `nohup ${sleep} >/dev/null 2>&1 &`],
    ['a daemon', (sleep) => `setsid sh -c '(setsid nohup ${sleep} >/dev/null 2>&1 </dev/null &)'`],
    [
      'a daemon without an environment',
      (sleep) => `setsid sh -c '(env -i setsid nohup ${sleep} >/dev/null 2>&1 </dev/null &)'`,
    ],
    ['one that heeds no signal', (sleep) => `trap "" TERM INT HUP; ${sleep} &`],
  ];
  test.each(ways)('%s', async (_what, script) => {
    const sleep = uniqueSleep();
    const running = await run(systemProcesses(), `${script(sleep)}\n echo up; cat`, {
      input: true,
    });
    await running.says('up');
    await vi.waitFor(() => expect(livingWith(sleep)).toContain(sleep), { timeout: 30_000 });
    await running.kill();
    expect(livingWith(sleep)).toEqual([]);
    expect(await running.ended).toEqual({ exitCode: 137, allRead: true });
  });
});

describe('a terminal', () => {
  const terminal = { rows: 20, cols: 90 };

  test('has the requested size, belongs to the command, and passes on all output', async () => {
    const processes = systemProcesses();
    for (let round = 0; round < 20; round++) {
      const running = await run(
        processes,
        'test -t 0 && tty; stty size </dev/tty; seq 1 3000; echo END',
        { terminal },
      );
      expect(await running.ended).toEqual({ exitCode: 0, allRead: true });
      const lines = Array.from({ length: 3000 }, (_, index) => index + 1);
      expect(running.text.stdout.replace(/^\/dev\/pts\/\d+\r\n/, '').split('\r\n')).toEqual([
        '20 90',
        ...lines.map(String),
        'END',
        '',
      ]);
    }
  });

  test('can be typed into, resized and ended', async () => {
    const running = await run(
      systemProcesses(),
      'read x; echo "got $x"; stty size; cat; echo over',
      { terminal },
    );
    running.resize({ rows: 33, cols: 44 });
    await running.write(Buffer.from('hey\n'));
    await running.says('33 44');
    await running.write(Buffer.from('half'));
    running.endInput();
    expect(await running.ended).toEqual({ exitCode: 0, allRead: true });
    expect(running.text.stdout).toBe('hey\r\ngot hey\r\n33 44\r\nhalfhalfover\r\n');
  });

  test('is not passed on to other commands', async () => {
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

describe('the processes of an owner', () => {
  test('are killed with the processes that outlived their command, and no others are', async () => {
    const processes = systemProcesses();
    const [mine, other] = [uniqueSleep(), uniqueSleep()];
    const ended = await run(processes, `setsid ${mine} >/dev/null 2>&1 & setsid ${mine} & exit 0`, {
      owner: ['thread', 'turn', 'a'],
    });
    expect(await ended.ended).toEqual({ exitCode: 0, allRead: false });
    const running = await run(processes, `${mine} & wait`, { owner: ['thread', 'turn', 'b'] });
    await run(processes, ['sleep', other.slice('sleep '.length)], { owner: ['thread', 'turning'] });
    await expect.poll(() => [livingWith(mine).length, livingWith(other).length]).toEqual([3, 1]);
    await processes.killOwned(['thread', 'turn']);
    expect(livingWith(mine)).toEqual([]);
    expect(livingWith(other)).toEqual([other]);
    expect(await running.ended).toEqual({ exitCode: 137, allRead: true });
    await processes.close();
    expect(livingWith(other)).toEqual([]);
    await expect(run(processes, 'true')).rejects.toThrow('the server is ending');
  });

  test.runIf(process.platform === 'linux')(
    'of a program of the server: one without marks, whose parent ends when it is asked to',
    async () => {
      const sleep = uniqueSleep();
      const script = `(trap "" TERM HUP; ulimit -x 7; exec env -i ${sleep} >/dev/null 2>&1) & echo up; wait`;
      const startedFor = { of: 'a program', kind: 'configured' } as const;
      const running = await run(systemProcesses(), ['bash', '-c', script], { startedFor });
      await vi.waitFor(() => expect(livingWith(sleep)).toEqual([sleep]), { timeout: 30_000 });
      await running.kill();
      expect(livingWith(sleep)).toEqual([]);
    },
  );

  test('are gone after 50 interrupts of a tree', { tags: 'slow' }, async () => {
    const processes = systemProcesses();
    const sleep = uniqueSleep();
    for (let round = 0; round < 50; round++) {
      const running = await run(
        processes,
        `${sleep} & (setsid sh -c '${sleep} & env -i ${sleep}' &) ; ${sleep}`,
        {
          owner: ['t', `${round}`],
        },
      );
      await Promise.all([running.kill(), processes.killOwned(['t', `${round}`])]);
      expect(livingWith(sleep)).toEqual([]);
    }
  });
});

test('an error of the system during the preparation of a start is reported as a failed start', async () => {
  const refusal = Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  const sandbox = {
    available: async () => ({ name: 'full' }),
    confine: () => Promise.reject(refusal),
    protects: async () => () => null,
    refusal: async () => null,
    isExposed: async () => false,
    programsChanged: async () => {},
    prepare: async () => {},
    tidy: async () => {},
    close: async () => {},
  };
  const bounds = {
    readable: 'everything' as const,
    writableRoots: [],
    network: false,
    unixSockets: false,
    unprotected: [],
    workspace: [],
    home: tmpdir(),
  };
  const start = run(systemProcesses({ sandbox }), 'true', { bounds });
  await expect(start).rejects.toEqual(
    new ProcessStartError('cannot start the program: EMFILE: too many open files', {
      cause: refusal,
    }),
  );
});

describe('input and output', () => {
  test('can be opened again by their paths', async () => {
    const script =
      'sleep 0.1; cat /dev/stdin >/dev/stderr; echo one >/dev/stdout; echo two | tee /dev/stdout; ls -l /proc/self/fd/0 >&2';
    const running = await run(systemProcesses(), script, { input: true });
    await running.write(Buffer.from('typed\n'));
    running.endInput();
    expect(await running.ended).toEqual({ exitCode: 0, allRead: true });
    expect(running.text.stdout).toBe('one\ntwo\ntwo\n');
    expect(running.text.stderr).toMatch(/^typed\n.* -> pipe:\[\d+\]\n$/);
  });

  test('are not a socket, for which bash would read the start-up file of a remote user', async () => {
    const home = mkdtempSync(join(tmpdir(), 'heddle-home-'));
    writeFileSync(join(home, '.bashrc'), 'echo read\n');
    const running = await run(systemProcesses(), ['/bin/bash', '-c', 'echo ran'], {
      env: { PATH, HOME: home },
      input: true,
    });
    running.endInput();
    await running.ended;
    expect(running.text.stdout).toBe('ran\n');
  });

  test('of many programs at once are not mixed up, and none stays open', async () => {
    const processes = systemProcesses();
    const before = readdirSync('/proc/self/fd').length;
    const numbers = Array.from({ length: 60 }, (_, index) => index);
    const all = await Promise.all(
      numbers.map((number) => run(processes, `cat; echo ${number} >&2`, { input: true })),
    );
    await Promise.all(all.map((running, number) => running.write(Buffer.from(`in ${number}`))));
    for (const running of all) running.endInput();
    await Promise.all(all.map(({ ended }) => ended));
    expect(all.map(({ text }) => text)).toEqual(
      numbers.map((number) => ({ stdout: `in ${number}`, stderr: `${number}\n` })),
    );
    await processes.close();
    await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
  });

  test('work, with limits, if no pipes can be made', async () => {
    const running = await run(systemProcesses({ platform: 'darwin' }), 'cat; echo end >&2', {
      input: true,
    });
    await running.write(Buffer.from('typed'));
    running.endInput();
    await running.ended;
    expect(running.text).toEqual({ stdout: 'typed', stderr: 'end\n' });
  });
});

test.each([
  ['linux', 1],
  ['darwin', 137],
] as const)(
  'a process that takes more memory than it may, ends: %s',
  async (platform, exitCode) => {
    // Without line ends, tail keeps everything.
    const running = await run(systemProcesses({ platform }), ['tail', '/dev/zero'], {
      memoryBytesMax: 100 * 1024 * 1024,
    });
    expect(await running.ended).toMatchObject({ exitCode });
  },
);

describe('output', () => {
  test('waits while it is paused, and is complete at the end', async () => {
    const running = await run(systemProcesses(), 'head -c 3000000 /dev/zero; echo END');
    running.pause();
    const before = running.text.stdout.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(running.text.stdout.length).toBe(before);
    running.resume();
    expect(await running.ended).toEqual({ exitCode: 0, allRead: true });
    expect(running.text.stdout.length).toBe(3_000_004);
  });

  test('of a process that continues to write is not waited for long', async () => {
    const running = await run(systemProcesses(), 'while :; do echo x; sleep 0.02; done & exit 4');
    expect(await running.ended).toEqual({ exitCode: 4, allRead: false });
  });

  test('that no process reads, and input that no process reads, do no harm', async () => {
    const running = await run(systemProcesses(), 'exec <&-; echo up; exec >&- 2>&-; sleep 1000', {
      input: true,
    });
    await running.says('up');
    await running.write(Buffer.alloc(1_000_000));
    await running.kill();
    expect(await running.ended).toEqual({ exitCode: 137, allRead: true });
    await running.write(Buffer.from('too late'));
    running.resize({ rows: 1, cols: 1 });
    running.endInput();
  });
});

describe('a mark', () => {
  test('of a server that a command starts is added to that of the command', async () => {
    const outer = await run(systemProcesses(), 'echo $HEDDLE_COMMAND; cat', { input: true });
    await outer.says('\n');
    const inner = systemProcesses({ env: { HEDDLE_COMMAND: outer.text.stdout.trim() } });
    const sleep = uniqueSleep();
    await run(inner, `setsid ${sleep} & wait`);
    await expect.poll(() => livingWith(sleep).length).toBe(1);
    await outer.kill();
    expect(livingWith(sleep)).toEqual([]);
  });
});
