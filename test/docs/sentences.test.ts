import { expect, test } from 'vitest';
import { PAGES, proseOf, textOf } from './pages.ts';

const WORDS_MAX = 28;
const PAGE_WORDS_MAX = 1800;
const CELL_WORDS_MAX = 35;

/** Words and turns of phrase that are not plain English for what these pages mean, with the plain ones. */
const UNPLAIN: readonly [RegExp, string][] = [
  [/(?<!leaves? (?:files )?|left )\bbehind\b(?! an? (?:proxy|public))/i, 'after'],
  [/\balso (?:if|when|where|without|from|for|in|by|with|after)\b/i, 'even if'],
  [/,\s+also\b/, 'even, too'],
  [/(?<!\bcan(?:not)? )\btell\b|\btells\b|\btold\b/i, 'report, say, show'],
  [/^what is\b.* is\b|^What\b.*[.:;]$/, 'the noun'],
  [/^(?:Of (?!course\b)|Nor\b|Neither (?!of\b))/, 'the subject first'],
  [/(?:^|: )(?:the same|this|that) (?:also )?holds\b/i, 'this is also true for'],
  [/\b(?:whatever|whoever|however)\b/i, 'even if'],
  [/\bwhichever\b(?! is)/i, 'even if'],
  [/\b(?:all the same|anew|for good|for ever)\b/i, 'still, again, permanently, forever'],
  [/(?<!^)\bin force\b(?! while)/i, 'heddle uses it'],
  [/\b(?:holds?|held) up\b|\bbreaks? off\b|\b(?:gives?|given) up\b/i, 'delay, end too early, stop'],
  [/\b(?:in the course of|as it stands|at fault)\b/i, 'during, without changes, wrong'],
];

/** Sentences of paragraphs, list items and cells. A piece of code counts as a word. */
function sentencesOf(page: string): string[] {
  const text = proseOf(page)
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/"[^"\n]*"/g, 'QUOTE')
    .replace(/\]\([^)]*\)|\*\*/g, '');
  const blocks = text.split(/\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |\||#))/);
  const cells = blocks.flatMap((block) =>
    block.trimStart().startsWith('|') ? block.split('|') : [block],
  );
  const plain = cells.map((cell) =>
    cell
      .replace(/^\s*(?:[-*#]+|\d+\.) /, '')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  return plain
    .flatMap((cell) => cell.split(/(?<=[.?!:;])\s+(?=\S)/))
    .filter((sentence) => /\w/.test(sentence));
}

test.each(PAGES)('%s has no sentence with too many words', (page) => {
  const long = sentencesOf(page).filter(
    (sentence) => sentence.split(' ').filter((word) => /\w/.test(word)).length > WORDS_MAX,
  );
  expect(long).toEqual([]);
});

test.each(PAGES)('%s has no unplain sentence', (page) => {
  const unplain = sentencesOf(page).flatMap((sentence) => {
    const found = UNPLAIN.find(([pattern]) => pattern.test(sentence));
    return found === undefined ? [] : [`${sentence} (better: ${found[1]})`];
  });
  expect(unplain).toEqual([]);
});

/** Pages in folders, and those whose further pages are in a folder with their name. */
const subjects = PAGES.filter(
  (page) =>
    /^docs\/.*\//.test(page) || PAGES.some((other) => other.startsWith(page.replace(/\.md$/, '/'))),
);

test.each(subjects)('%s begins with what the reader can do after it', (page) => {
  expect(textOf(page)).toMatch(/^# .*\n\nAfter this page, /);
});

test.each(PAGES)('%s is no longer than a page', (page) => {
  const words = textOf(page)
    .split(/\s+/)
    .filter((word) => /\w/.test(word));
  expect(words.length).toBeLessThanOrEqual(PAGE_WORDS_MAX);
});

test.each(PAGES)('%s has facts in its tables, and no paragraphs', (page) => {
  const cells = textOf(page)
    .split('\n')
    .flatMap((line) => (line.startsWith('|') ? line.split('|') : []));
  expect(cells.filter((cell) => cell.trim().split(/\s+/).length > CELL_WORDS_MAX)).toEqual([]);
});
