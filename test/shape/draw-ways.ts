import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSource } from './read-source.ts';
import { importsIn } from './room-shape.ts';
import { type Stop, wayPicture } from './way-picture.ts';

// Draws the way of each page of docs/design that has numbered stops: `npm run generate`. The stops
// are the files that the page names first in each item of its first list. Their captions are the
// bold words before that. The lines between them show which of the files import each other.

const root = dirname(dirname(import.meta.dirname));
const folder = join(root, 'docs', 'design');
const files = readSource(root, ['src']);
const targets = new Map<string, Set<string>>(files.map(({ path }) => [path, new Set()]));
for (const { from, to } of importsIn(files)) targets.get(from)?.add(to);

for (const page of readdirSync(folder).filter((name) => name.endsWith('.md'))) {
  const text = readFileSync(join(folder, page), 'utf8');
  const stops = stopsOf(text);
  if (!text.includes(page.replace(/\.md$/, '.svg'))) continue;
  const title = /^# (.*)$/m.exec(text)?.[1] ?? page;
  const picture = wayPicture({ title, stops, areTied });
  writeFileSync(join(folder, page.replace(/\.md$/, '.svg')), picture);
}

/** The files that the numbered items before a page's second heading name first. */
function stopsOf(text: string): Stop[] {
  const list = text.split('\n## ')[0] ?? '';
  const items = [...list.matchAll(/^(\d+)\. (?:\*\*([^*]+)\*\*: )?[^`]*`([\w/.-]+\.ts)`/gm)];
  return items.map(([, number, caption = null, name]) => {
    const path = `src/${name}`;
    if (!targets.has(path)) throw new Error(`there is no file ${path}`);
    return { path, number: Number(number), caption };
  });
}

/** Whether one of two files imports the other. */
function areTied(one: string, other: string): boolean {
  return targets.get(one)?.has(other) === true || targets.get(other)?.has(one) === true;
}
