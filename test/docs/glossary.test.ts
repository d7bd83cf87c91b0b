import { expect, test } from 'vitest';
import { PAGES, proseOf, section, sourceFiles, textOf } from './pages.ts';

const GLOSSARY = 'docs/glossary.md';

/** The rows of the glossary's second table: words, and the word to use in their place. */
const rows = section(GLOSSARY, 'Words that these pages do not use')
  .split('\n')
  .filter((line) => /^\| \w/.test(line))
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()));
const unused = rows.flatMap(([, not = '', but = '']) => not.split(', ').map((word) => ({ word, but })));

/** Pieces of text that are right with a word that means something else in them. */
const RIGHT = [/\bChat Completions\b/g];

/** What a text says in its own words: no code, no links. */
function prose(text: string): string {
  const plain = text
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/\s+/g, ' ');
  return RIGHT.reduce((rest, right) => rest.replace(right, ''), plain);
}

/** The places with the word, in the singular or the plural. */
function placesOf(word: string, text: string): string[] {
  const pattern = new RegExp(`.{0,40}\\b${word.replace(/y$/, '(?:y|ie)')}s?\\b.{0,40}`, 'gi');
  return [...text.matchAll(pattern)].map(([place]) => place);
}

test('the glossary has each word to use, and explains no word twice', () => {
  const words = proseOf(GLOSSARY)
    .split('## ')[0]
    ?.split('\n')
    .flatMap((line) => (/^\| \w/.test(line) ? (line.split('|')[1]?.trim().split(', ') ?? []) : []));
  expect(words?.length).toBeGreaterThan(50);
  expect(words?.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  const other = ['parent', 'home folder', 'answer', 'user'];
  expect(rows.flatMap(([, , but = '']) => but.split(', ')).filter((word) => !words?.includes(word) && !other.includes(word))).toEqual([]);
});

test.each(PAGES)('%s uses the words of the glossary', (page) => {
  const text = prose(page === GLOSSARY ? (proseOf(page).split('## ')[0] ?? '') : proseOf(page));
  const found = unused.flatMap(({ word, but }) => placesOf(word, text).map((place) => `${place} (better: ${but})`));
  expect(found).toEqual([]);
});

test.each(PAGES)('%s calls the agents that an agent has started sub-agents', (page) => {
  const agents = /.{0,40}(?<![Ss]ub-|coding |[Oo]ther |Editors and |threads of )\bagents\b(?!\.md).{0,40}/g;
  expect([...prose(proseOf(page)).matchAll(agents)].map(([place]) => place)).toEqual([]);
});

test.each(PAGES)('%s starts, resumes and forks threads, not sessions', (page) => {
  const verbs = '(?:start|resum|fork|archiv|delet|clos|continu)(?:e|es|ed|ing|s)?';
  const wrong = new RegExp(`.{0,40}\\b${verbs} (?:a|an|the|this|that|another|each) (?:\\w+ )?(?:session|conversation)s?\\b.{0,40}`, 'gi');
  expect([...prose(proseOf(page)).matchAll(wrong)].map(([place]) => place)).toEqual([]);
});

test('the help texts and messages in the source use the words of the glossary', () => {
  // A word of several parts can stand only in a text or a comment. One part may be a name of the code or of the protocol.
  const several = unused.filter(({ word }) => word.includes(' '));
  expect(several.length).toBeGreaterThan(20);
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((path) => {
    const text = textOf(path);
    return several.flatMap(({ word }) => placesOf(word, text).map((place) => `${path}: ${place}`));
  });
  expect(found).toEqual([]);
});
