import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSource } from './read-source.ts';
import { importsIn } from './room-shape.ts';
import { wayPicture } from './way-picture.ts';

// Draws the way of each page of docs/design that has numbered stops: `npm run generate`. The stops
// are the files that the page names first in each item of its first list. The lines between them
// show which of the files import each other.

const root = dirname(dirname(import.meta.dirname));
const folder = join(root, 'docs', 'design');
const files = readSource(root, ['src']);
const paths = files.map(({ path }) => path);
const targets = new Map<string, Set<string>>(paths.map((path) => [path, new Set()]));
for (const { from, to } of importsIn(files)) targets.get(from)?.add(to);

for (const page of readdirSync(folder).filter((name) => name.endsWith('.md'))) {
  const text = readFileSync(join(folder, page), 'utf8');
  const stops = stopsOf(text);
  if (!text.includes(page.replace(/\.md$/, '.svg'))) continue;
  const title = /^# (.*)$/m.exec(text)?.[1] ?? page;
  const picture = wayPicture({ title, stops, between: filesBetween });
  writeFileSync(join(folder, page.replace(/\.md$/, '.svg')), picture);
}

/** The files that the numbered items before a page's second heading name first. */
function stopsOf(text: string): { path: string; number: number }[] {
  const list = text.split('\n## ')[0] ?? '';
  const items = [...list.matchAll(/^(\d+)\. [^`]*`([\w/.-]+\.ts)`/gm)];
  return items.map(([, number, name = '']) => ({ path: pathOf(name), number: Number(number) }));
}

/** The path of the file that a page means by the end of it. Throws unless there is exactly one. */
function pathOf(end: string): string {
  const found = paths.filter((path) => `/${path}`.endsWith(`/${end}`));
  const [path] = found;
  if (path === undefined || found.length > 1)
    throw new Error(`${end} names ${found.length} files: ${found.join(', ')}`);
  return path;
}

/**
 * The files over which one of two files imports the other: none if it does so itself. Null if there
 * are two or more between them.
 */
function filesBetween(one: string, other: string): string[] | null {
  const importedBy = (path: string) => targets.get(path) ?? new Set<string>();
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    if (importedBy(from).has(to)) return [];
    const over = [...importedBy(from)].find((path) => importedBy(path).has(to));
    if (over !== undefined) return [over];
  }
  return null;
}
