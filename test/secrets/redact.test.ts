import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RedactedStream, redact, secretsOf } from '../../src/secrets/redact.ts';
import { runs } from '../support/runs.ts';

function streamed(pieces: readonly string[], secrets: readonly string[]): string[] {
  const stream = new RedactedStream(secrets);
  return [...pieces.map((piece) => stream.push(piece)), stream.end()];
}

describe('a text that arrives in pieces', () => {
  test.each([
    [
      ['a ', 'se', 'cret', ' b'],
      ['a ', '', '…', ' b', ''],
    ],
    [
      ['a s', 'ea'],
      ['a ', 'sea', ''],
    ],
    [
      ['secretsecret', 'secre'],
      ['……', '', 'secre'],
    ],
    [['sesecret'], ['se…', '']],
    [['nothing'], ['nothing', '']],
  ])('%j is shown as %j', (pieces, shown) => {
    expect(streamed(pieces, ['secret'])).toEqual(shown);
  });

  test('waits for the longer of two secrets that begin alike', () => {
    const shown = streamed(
      ['secret', '-two', ' secret', ' secret-', 'one secret'],
      ['secret-two', 'secret'],
    );
    expect(shown).toEqual(['', '…', ' ', '… ', '…-one ', '…']);
  });

  test('is shown as the whole text would be, and never holds back more than the beginning of a secret', {
    tags: 'seeded',
  }, () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 2, maxLength: 5 });
    const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 6 }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), text, (words, pieces) => {
        const secrets = [...new Set(words)].sort((a, b) => b.length - a.length);
        const stream = new RedactedStream(secrets);
        let shown = '';
        for (const [index, piece] of pieces.entries()) {
          shown += stream.push(piece);
          const held = redact(pieces.slice(0, index + 1).join(''), secrets).length - shown.length;
          expect(held).toBeLessThan(Math.max(...secrets.map(({ length }) => length)));
        }
        expect(shown + stream.end()).toBe(redact(pieces.join(''), secrets));
      }),
      { seed: 7, numRuns: runs(2000) },
    );
  });

  test.each(['s', 'secret', 'se', 'ss'])(
    'a million times %j is shown in time',
    { tags: 'slow' },
    (part) => {
      expect(streamed([part.repeat(500_000), part.repeat(500_000)], ['secret']).join('')).toBe(
        redact(part.repeat(1_000_000), ['secret']),
      );
    },
  );
});

test('values of public headers and parameters, and those of fewer than 8 characters, are not secrets', () => {
  const url = new URL('https://host.example/v1?api-version=2024-10-21-preview&key=parameter-key');
  const headers = {
    'User-Agent': 'somebody/1.0',
    Accept: 'application/json',
    'X-Key': 'header-key',
    'X-Short': 'seven77',
  };
  expect(secretsOf(url, headers)).toEqual(['parameter-key', 'header-key']);
});
