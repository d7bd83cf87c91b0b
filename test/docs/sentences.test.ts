import { expect, test } from 'vitest';
import { PAGES, proseOf } from './pages.ts';

const WORDS_MAX = 28;

/** Words and turns of phrase that are not plain English for what these pages mean, with the plain ones. */
const UNPLAIN: readonly [RegExp, string][] = [
  [/(?<!leaves? (?:files )?|left )\bbehind\b(?! an? (?:proxy|public))/i, 'after'],
  [/\balso (?:if|when|where|without|from|for|in|by|with|after)\b/i, 'even if'],
  [/(?<!\bcan(?:not)? )\btell\b|\btells\b|\btold\b/i, 'report, say, show'],
  [/^what is\b.* is\b/i, 'the noun'],
];

/**
 * How many sentences of each page are too long or not plain. A page that is not listed has none. Lower a limit when a page gets
 * better, and never raise one.
 */
const LIMITS: Record<string, { long: number; unplain: number }> = {
  'docs/approvals.md': { long: 10, unplain: 0 },
  'docs/clients.md': { long: 6, unplain: 0 },
  'docs/configuration.md': { long: 16, unplain: 0 },
  'docs/hooks.md': { long: 8, unplain: 0 },
  'docs/mcp.md': { long: 3, unplain: 0 },
  'docs/performance.md': { long: 3, unplain: 0 },
  'docs/rules.md': { long: 3, unplain: 0 },
  'docs/security.md': { long: 19, unplain: 0 },
};

/** Sentences of paragraphs, list items and cells. A piece of code counts as a word. */
function sentencesOf(page: string): string[] {
  const text = proseOf(page)
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/"[^"\n]*"/g, 'QUOTE')
    .replace(/\]\([^)]*\)|\*\*/g, '');
  const blocks = text.split(/\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\||#))/);
  const cells = blocks.flatMap((block) => (block.trimStart().startsWith('|') ? block.split('|') : [block]));
  const plain = cells.map((cell) =>
    cell
      .replace(/^\s*(?:[-*#]+|\d+\.) /, '')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  return plain.flatMap((cell) => cell.split(/(?<=[.?!:;])\s+(?=\S)/)).filter((sentence) => /\w/.test(sentence));
}

test.each(PAGES)('%s has no more long and unplain sentences than before', (page) => {
  const sentences = sentencesOf(page);
  const long = sentences.filter((sentence) => sentence.split(' ').filter((word) => /\w/.test(word)).length > WORDS_MAX);
  const unplain = sentences.flatMap((sentence) => {
    const found = UNPLAIN.find(([pattern]) => pattern.test(sentence));
    return found === undefined ? [] : [`${sentence} (better: ${found[1]})`];
  });
  const limit = LIMITS[page] ?? { long: 0, unplain: 0 };
  expect(long.length > limit.long ? long : []).toEqual([]);
  expect(unplain.length > limit.unplain ? unplain : []).toEqual([]);
});

test('the limits are of pages that exist', () => {
  expect(Object.keys(LIMITS).filter((page) => !PAGES.includes(page))).toEqual([]);
});
