import { describe, expect, test } from 'vitest';
import {
  ProgressLine,
  type ProgressPlace,
  progressPlace,
} from '../../src/cli/progress/progress-line.ts';
import { FakeClock } from '../support/fake-clock.ts';

const CLEAR = '\r\x1b[K';

function shownAt(place: ProgressPlace) {
  const clock = new FakeClock();
  const written: string[] = [];
  const line = new ProgressLine(place, { clock, write: (text) => written.push(text) });
  /** The output of the time that passed. */
  const writtenIn = (ms: number) => {
    clock.advance(ms);
    return written.splice(0);
  };
  return { clock, line, writtenIn, written };
}

describe('on a terminal', () => {
  const terminal = { isTerminal: true, columns: 80 };

  test('one line comes after a second, follows the steps and the seconds, and goes away at the end', () => {
    const { clock, line, writtenIn, written } = shownAt(terminal);
    line.step('checking');
    expect(writtenIn(999)).toEqual([]);
    expect(writtenIn(1)).toEqual([`${CLEAR}checking … 1 s`]);
    expect(writtenIn(800)).toEqual([]);
    line.step('copying 40 %');
    expect(writtenIn(200)).toEqual([`${CLEAR}copying 40 % … 2 s`]);
    line.step('copying 41 %');
    line.step('copying 42 %');
    expect(writtenIn(200)).toEqual([`${CLEAR}copying 42 % … 2 s`]);
    clock.advance(117_800);
    expect(written.splice(0).at(-1)).toBe(`${CLEAR}copying 42 % … 2 min 0 s`);
    line.end();
    expect(writtenIn(60_000)).toEqual([CLEAR]);
    expect(clock.timers).toEqual([]);
  });

  test.each([
    [20, 'copying a table of …'.slice(0, 19)],
    [1, 'c'],
    [0, 'c'],
  ])('a line is shorter than a width of %i', (columns, shown) => {
    const { line, writtenIn } = shownAt({ ...terminal, columns });
    line.step('copying a table of a long name');
    expect(writtenIn(1_000)).toEqual([`${CLEAR}${shown}`]);
  });

  test('a step is shown harmlessly', () => {
    const { line, writtenIn } = shownAt(terminal);
    line.step('copying \x1b[31m\n');
    expect(writtenIn(1_000)).toEqual([`${CLEAR}copying \\x1b[31m\\n … 1 s`]);
  });
});

test('elsewhere, a line comes after a second and every ten seconds, and none at the end', () => {
  const { clock, line, writtenIn } = shownAt({ isTerminal: false, columns: 20 });
  line.step('checking');
  expect(writtenIn(999)).toEqual([]);
  expect(writtenIn(1)).toEqual(['heddle: checking … 1 s\n']);
  line.step('copying the table of all entries');
  expect(writtenIn(9_999)).toEqual([]);
  expect(writtenIn(1)).toEqual(['heddle: copying the table of all entries … 11 s\n']);
  expect(writtenIn(20_000)).toHaveLength(2);
  line.end();
  expect(writtenIn(60_000)).toEqual([]);
  expect(clock.timers).toEqual([]);
});

test.each([true, false])('shorter work shows nothing (terminal: %s)', (isTerminal) => {
  const { line, writtenIn } = shownAt({ isTerminal, columns: 80 });
  line.step('checking');
  expect(writtenIn(999)).toEqual([]);
  line.end();
  expect(writtenIn(60_000)).toEqual([]);
});

test.each([
  [{ isTTY: true, columns: 100 }, { TERM: 'xterm' }, { isTerminal: true, columns: 100 }],
  [{ isTTY: true, columns: 0 }, { NO_COLOR: '1' }, { isTerminal: true, columns: 80 }],
  [{ isTTY: true, columns: 100 }, { TERM: 'dumb' }, { isTerminal: false, columns: 100 }],
  [{}, { TERM: 'xterm' }, { isTerminal: false, columns: 80 }],
])('%j with %j is the place %j', (stderr, env, place) => {
  expect(progressPlace(stderr, env)).toEqual(place);
});
