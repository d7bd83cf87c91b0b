// @module-tag slow
import { describe, expect, test } from 'vitest';
import { uptimeTicks } from '../../src/sandbox/processes/process-table.ts';
import type { Processes } from '../../src/sandbox/processes/processes.ts';
import { run, systemProcesses } from './processes.ts';

const NO_TERMINAL = null;
const TERMINAL = { rows: 24, cols: 80 };

/** Interrupts a command that has said `up`. Returns its exit code and what it said after that. */
async function interrupted(processes: Processes, argv: string[], terminal: typeof TERMINAL | null) {
  const command = await run(processes, argv, { terminal });
  await command.says('up');
  await command.interrupt();
  const { exitCode } = await command.ended;
  const said = command.text.stdout.replaceAll('\r', '').replace('^C', '').replace(/^up\n/, '');
  return { exitCode, said };
}

const sh = (script: string) => ['/bin/sh', '-c', script];
const node = (script: string) => [process.execPath, '-e', script];

/**
 * Forks a process that executes a program after the interrupt, which it has lost like one that
 * comes between a shell's fork and exec.
 */
const LATE_EXEC = `$SIG{INT} = sub { $caught = 1 };
if (($pid = fork) == 0) { syswrite STDOUT, "up\\n"; select undef, undef, undef, 0.05 until $caught; exec "sleep", "1000" }
1 while waitpid($pid, 0) == -1 && $!{EINTR};
exit($caught && ($? & 127) == 2 ? 42 : 1)`;

describe.each([NO_TERMINAL, TERMINAL])('an interrupt (terminal: %j)', (terminal) => {
  test('reaches a shell whose other processes come and go', async () => {
    const processes = systemProcesses();
    const script = 'trap "exit 42" INT; echo up; while :; do sleep 0.01; done';
    const rounds = Array.from({ length: 8 }, () => interrupted(processes, sh(script), terminal));
    expect(await Promise.all(rounds)).toEqual(rounds.map(() => ({ exitCode: 42, said: '' })));
  });

  test('is sent again to a program that was forked before it and executed after it', async () => {
    expect(
      await interrupted(systemProcesses(), ['perl', '-MErrno', '-e', LATE_EXEC], terminal),
    ).toEqual({ exitCode: 42, said: '' });
  });

  test('is not sent again to a program that has handled it once, and goes on', async () => {
    const close = "execFile('sleep', ['0.7'], () => { console.log('closed'); process.exit(7); })";
    const once = `const { execFile } = require('child_process'); process.once('SIGINT', () => ${close})`;
    expect(
      await interrupted(
        systemProcesses(),
        node(`${once}; require('net').createServer().listen(0, () => console.log('up'))`),
        terminal,
      ),
    ).toEqual({
      exitCode: 7,
      said: 'closed\n',
    });
  });

  test('is not sent again to a program that its handler has started', async () => {
    const script = `trap "sleep 0.7; ${process.execPath} -e 0; echo cleaned; exit 7" INT; echo up; while :; do sleep 0.01; done`;
    expect(await interrupted(systemProcesses(), sh(script), terminal)).toEqual({
      exitCode: 7,
      said: 'cleaned\n',
    });
  });

  test('is not sent again to a program that the interrupted shell executes in its own place', async () => {
    const script =
      'trap "echo caught" INT; sh -c "echo up; exec sleep 1000"; exec sh -c "sleep 0.7; echo over; exit 7"';
    expect(await interrupted(systemProcesses(), sh(script), terminal)).toEqual({
      exitCode: 7,
      said: 'caught\nover\n',
    });
  });
});

test('a command that has just ended is not interrupted', async () => {
  const command = await run(systemProcesses(), 'exit 3');
  expect(await command.ended).toEqual({ exitCode: 3, allRead: true });
  await command.interrupt();
});

test('the time at which an interrupt is sent is exact to the tick, as the start times of processes are', () => {
  const ticks = Array.from({ length: 20_000 }, (_, index) => index * 397);
  expect(ticks.map((tick) => uptimeTicks(`${(tick / 100).toFixed(2)} 1.00\n`))).toEqual(ticks);
});
