import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Keyboard, type KeyboardStream } from '../../../src/cli/exec/asking/keyboard.ts';

/** A terminal of which only the mode is known. */
function keyboard() {
  const modes: boolean[] = [];
  let interrupts = 0;
  const stream = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => modes.push(raw),
  });
  const keys = new Keyboard(stream as unknown as KeyboardStream, () => {
    interrupts += 1;
  });
  return { stream, keys, modes, interrupts: () => interrupts };
}

const never = new AbortController().signal;

test('a hidden line can be edited, and the terminal is in its mode again behind it', async () => {
  const { stream, keys, modes, interrupts } = keyboard();
  await keys.open();
  const line = keys.hiddenLine(never);
  for (const typed of ['wrong\x15', 'sec', 're\x7f\x08r', '\x03e', 'té\u{1f469}\x7f', '\rnext\n'])
    stream.write(typed);
  expect([await line, modes, interrupts()]).toEqual(['secreté', [true, false, true, false], 1]);
  expect(await keys.line(never)).toBe('next');
});

test('a line and a hidden line end with the input, or with what they are for', async () => {
  const { stream, keys } = keyboard();
  await keys.open();
  const control = new AbortController();
  const withdrawn = keys.line(control.signal);
  control.abort(new Error('answered'));
  await expect(withdrawn).rejects.toThrow('answered');
  const hidden = keys.hiddenLine(never);
  stream.write('\x04');
  expect(await hidden).toBe(null);
  stream.end();
  expect([await keys.line(never), await keys.hiddenLine(never)]).toEqual([null, null]);
});

test('what was typed before the question is dropped, apart from Ctrl-C', async () => {
  const { stream, keys, interrupts } = keyboard();
  stream.write('y\n\x03');
  await keys.open();
  expect(interrupts()).toBe(1);
  const line = keys.line(never);
  stream.write('n\n');
  expect(await line).toBe('n');
});
