import { expect, test } from 'vitest';
import { PAGES, proseOf, section, sourceFiles, textOf } from './pages.ts';

const GLOSSARY = 'docs/glossary.md';
const NOT_USED = 'Words that these pages do not use';
const CONTEXT_CHARS = 40;

/** The rows of a table whose first cells are words, without its head. */
function rowsOf(table: string): string[][] {
  const lines = table.split('\n').filter((line) => /^\| \w/.test(line));
  return lines.slice(1).map((line) => line.split('|').map((cell) => cell.trim()));
}

const used = rowsOf(proseOf(GLOSSARY).split('## ')[0] ?? '').flatMap(([, word = '']) =>
  word.split(', '),
);
const unused = rowsOf(section(GLOSSARY, NOT_USED)).flatMap(([, not = '', but = '']) =>
  not.split(', ').map((word) => ({ word, but })),
);

/** Pieces of text that are right with a word that means something else in them. */
const RIGHT = /\bChat Completions\b/g;

/** The words of a page: no code, no links. */
function wordsOf(page: string): string {
  const text = page === GLOSSARY ? (proseOf(page).split(`## ${NOT_USED}`)[0] ?? '') : proseOf(page);
  const plain = text.replace(/`[^`]*`/g, 'CODE').replace(/\]\([^)]*\)/g, ']');
  return plain.replace(/\s+/g, ' ').replace(RIGHT, '');
}

function placesOf(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].map(({ index, 0: { length } }) =>
    text.slice(Math.max(0, index - CONTEXT_CHARS), index + length + CONTEXT_CHARS),
  );
}

/** Matches any of the words, in the singular or the plural. */
function anyOf(words: readonly string[]): RegExp {
  return new RegExp(
    `\\b(?:${words.map((word) => word.replace(/y$/, '(?:y|ie)')).join('|')})s?\\b`,
    'gi',
  );
}

test('the glossary has no word twice, and has the words to use in place of others', () => {
  expect(used.length).toBeGreaterThan(40);
  expect(unused.length).toBeGreaterThan(30);
  expect(used.filter((word, index) => used.indexOf(word) !== index)).toEqual([]);
  const explainedElsewhere = ['parent', 'home folder', 'answer', 'user'];
  const wanted = unused.flatMap(({ but }) => but.split(', '));
  expect(
    wanted.filter((word) => !used.includes(word) && !explainedElsewhere.includes(word)),
  ).toEqual([]);
});

test.each(PAGES)('%s uses the words of the glossary', (page) => {
  const text = wordsOf(page);
  expect(placesOf(anyOf(unused.map(({ word }) => word)), text)).toEqual([]);
  // Agents that an agent has started are sub-agents.
  expect(
    placesOf(/(?<![Ss]ub-|coding |[Oo]ther |Editors and |threads of )\bagents\b(?!\.md)/g, text),
  ).toEqual([]);
  // Clients start, resume and fork threads.
  const verbs = '(?:start|resum|fork|archiv|delet|clos|continu)(?:e|es|ed|ing|s)?';
  expect(
    placesOf(
      new RegExp(
        `\\b${verbs} (?:an?|the|th[ai][ts]|another|each) (?:\\w+ )?(?:session|conversation)s?\\b`,
        'gi',
      ),
      text,
    ),
  ).toEqual([]);
});

test('the help texts and messages in the source use the words of the glossary', () => {
  // Words of several parts stand only in texts and comments. A single one may be a name of the code
  // or of the protocol.
  const several = unused.map(({ word }) => word).filter((word) => word.includes(' '));
  expect(several.length).toBeGreaterThan(20);
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(500);
  const pattern = anyOf(several);
  expect(
    files.flatMap((path) => placesOf(pattern, textOf(path)).map((place) => `${path}: ${place}`)),
  ).toEqual([]);
});
