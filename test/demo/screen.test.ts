import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Output, Screen } from '../../examples/demo/screen.ts';
import { runs } from '../support/runs.ts';

/** One call of a screen, with a text. */
const calls = fc.array(
  fc.tuple(
    fc.constantFrom(
      'heading',
      'note',
      'says',
      'begins',
      'adds',
      'ends',
      'sent',
      'received',
      'delta',
    ),
    fc.oneof(
      fc
        .array(
          fc.constantFrom(
            'a',
            'word',
            ' ',
            '  ',
            '\n',
            '\t',
            '-',
            'a-very-long-word-that-no-line-has-room-for',
          ),
          { maxLength: 30 },
        )
        .map((parts) => parts.join('')),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
    ),
  ),
  { maxLength: 20 },
);

function show(screen: Screen, [kind, text]: [string, string]): void {
  if (kind === 'heading' || kind === 'note' || kind === 'adds') screen[kind](text);
  else if (kind === 'says') screen.says('agent', text);
  else if (kind === 'begins') screen.begins('agent');
  else if (kind === 'ends') screen.ends();
  else if (kind === 'delta')
    screen.wire(
      'received',
      JSON.stringify({ method: 'item/agentMessage/delta', params: { text } }),
    );
  else screen.wire(kind as 'sent' | 'received', JSON.stringify({ method: 'x', params: { text } }));
}

/** A terminal, and all that is written to it. */
function terminal(columns: number | undefined): Output & { shown: string } {
  const output = {
    shown: '',
    isTTY: true,
    write(text: string) {
      output.shown += text;
    },
    ...(columns === undefined ? {} : { columns }),
  };
  return output;
}

test('no line is wider than the terminal, whatever is shown, and no word of a message is lost', {
  tags: 'seeded',
}, () => {
  fc.assert(
    fc.property(calls, fc.integer({ min: 0, max: 240 }), fc.boolean(), (shown, columns, wire) => {
      const output = terminal(columns);
      const screen = new Screen(output, { wire, colors: false });
      for (const call of shown) show(screen, call);
      const width = columns === 0 ? 80 : Math.max(20, columns);
      expect(output.shown.split('\n').filter((line) => [...line].length > width)).toEqual([]);
      const text = `Zebra ${'zigzag '.repeat(20)}end.`;
      const before = output.shown.length;
      screen.says('agent', text);
      expect(squeezed(output.shown.slice(before))).toContain(squeezed(`agent${text}`));
    }),
    { seed: 1, numRuns: runs(3000) },
  );
});

/** Without what wrapping changes. */
function squeezed(text: string): string {
  return text.replace(/\s+/g, '');
}

test('a message looks the same, however its text arrives in deltas', { tags: 'seeded' }, () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 60 }), { maxLength: 16 }),
      fc.integer({ min: 20, max: 100 }),
      (deltas, columns) => {
        const [whole, streamed] = [terminal(columns), terminal(columns)];
        new Screen(whole, { wire: false, colors: false }).says('agent', deltas.join(''));
        const screen = new Screen(streamed, { wire: false, colors: false });
        screen.begins('agent');
        for (const delta of deltas) screen.adds(delta);
        screen.ends();
        expect(streamed.shown).toBe(whole.shown);
      },
    ),
    { seed: 1, numRuns: runs(1000) },
  );
});

test.each([
  ['x'.repeat(360), 'x'.repeat(360)],
  ['x'.repeat(361), `${'x'.repeat(360)}…`],
])('a message of more than 360 characters is cut', (text, shown) => {
  const output = terminal(80);
  new Screen(output, { wire: false, colors: false }).says('agent', text);
  expect(squeezed(output.shown)).toBe(`agent${shown}`);
});

const MESSAGE =
  '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"heddle-demo","title":"The demo of heddle","version":"1.0.0"}}}';

function session(output: Output): void {
  const screen = new Screen(output, { wire: true, colors: false });
  screen.heading('1. A server, a thread, a turn');
  screen.wire('sent', MESSAGE);
  screen.note(
    'initialize: heddle 0.1.0, protocol 0.169.0, 158 methods, and a long note that a terminal of 80 columns wraps',
  );
  screen.begins('agent');
  for (const delta of [
    'Good day! This text',
    ' arri',
    'ves word by word, as a model writes it, in a line that is long.',
  ]) {
    screen.wire(
      'received',
      JSON.stringify({ method: 'item/agentMessage/delta', params: { delta } }),
    );
    screen.adds(delta);
  }
  screen.wire('received', '{"method":"item/completed"}');
  screen.ends();
}

test.each([0, 80])('at %i columns, messages on the wire are below the conversation', (columns) => {
  const output = terminal(columns);
  session(output);
  expect(output.shown).toBe(`
1. A server, a thread, a turn
  → {"id":1,"method":"initialize","params":{"clientInfo":{"name":"heddle-demo",…
  initialize: heddle 0.1.0, protocol 0.169.0, 158 methods, and a long note that
  a terminal of 80 columns wraps
  agent   Good day! This text arrives word by word, as a model writes it, in a
          line that is long.
  ← {"method":"item/agentMessage/delta", …} × 3
  ← {"method":"item/completed"}
`);
});

test('a wide terminal has them beside it, and each line is as wide as the terminal is then', () => {
  const output = terminal(140);
  session(output);
  output.columns = 30;
  new Screen(output, { wire: false, colors: false }).note(
    'A note after the window was made smaller.',
  );
  expect(output.shown).toBe(`
1. A server, a thread, a turn
${' '.repeat(62)}→ ${MESSAGE.slice(0, 75)}…
  initialize: heddle 0.1.0, protocol 0.169.0, 158 methods,
  and a long note that a terminal of 80 columns wraps
  agent   Good day! This text arrives word by word, as a
          model writes it, in a line that is long.
${' '.repeat(62)}← {"method":"item/agentMessage/delta", …} × 3
${' '.repeat(62)}← {"method":"item/completed"}
  A note after the window was
  made smaller.
`);
});
