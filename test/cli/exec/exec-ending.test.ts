import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { ExecEnding } from '../../../src/cli/exec/exec-ending.ts';
import { type Output, Screen } from '../../../src/cli/exec/screen.ts';

const [SIGHUP, SIGINT, SIGTERM] = [1, 2, 15];

/** A process that is told what could end it. */
function ending() {
  const exits: number[] = [];
  const notes: string[] = [];
  const emitter = new EventEmitter();
  const output = {
    on: (event: string, listener: () => void) => emitter.on(event, listener),
    write: (text: string) => notes.push(text),
  };
  const streams = {
    stdout: output as unknown as Output,
    stderr: { ...output, on: () => {} } as unknown as Output,
  };
  let signal = (_number: number) => {};
  let readerGone = () => {};
  const host = {
    ...streams,
    onSignal: (handler: typeof signal) => {
      signal = handler;
    },
    onReaderGone: (handler: () => void) => {
      readerGone = handler;
    },
    exit: (code: number) => void exits.push(code),
  };
  const state = new ExecEnding(host, new Screen({ ...streams, env: {}, json: false }));
  const fail = (code: string) =>
    emitter.emit('error', Object.assign(new Error(`${code}: write`), { code }));
  return {
    state,
    exits,
    notes,
    signal: (number: number) => signal(number),
    readerGone: () => readerGone(),
    fail,
  };
}

test('the first SIGINT interrupts the turn, which decides about the exit code, and the second ends the process', () => {
  const { state, exits, signal } = ending();
  signal(SIGINT);
  expect([state.signal.aborted, state.exitCode, exits]).toEqual([true, null, []]);
  signal(SIGINT);
  expect(exits).toEqual([130]);
});

test('other signals interrupt the turn, too, and the exit code says which it was', () => {
  for (const [first, code] of [
    [SIGTERM, 143],
    [SIGHUP, 129],
  ] as const) {
    const { state, exits, signal } = ending();
    signal(first);
    expect([state.signal.aborted, state.exitCode, exits]).toEqual([true, code, []]);
    signal(SIGINT);
    expect(exits).toEqual([code]);
  }
});

test('a reader that is gone ends the turn quietly, and a full disk does so with the reason', () => {
  for (const lose of [
    ({ readerGone }: ReturnType<typeof ending>) => readerGone(),
    ({ fail }: ReturnType<typeof ending>) => fail('EPIPE'),
  ]) {
    const run = ending();
    lose(run);
    lose(run);
    expect([run.state.signal.aborted, run.state.exitCode, run.notes, run.exits]).toEqual([
      true,
      141,
      [],
      [],
    ]);
  }
  const full = ending();
  full.fail('ENOSPC');
  full.fail('ENOSPC');
  expect([full.state.exitCode, full.notes]).toEqual([
    1,
    ['heddle: the output cannot be written: the disk is full\n'],
  ]);
});
