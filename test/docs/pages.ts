import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const ROOT = dirname(dirname(import.meta.dirname));

/** The pages that users read, as paths from the root. */
export const PAGES = ['README.md', ...pagesIn('docs')].sort();

function pagesIn(folder: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`);
}

/** A fenced block of a page. */
export interface Block {
  page: string;
  /** The number of the line of its fence. */
  line: number;
  /** The word after the fence. Empty: none. */
  language: string;
  text: string;
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The files of the source, as paths from the root, without generated ones. */
export function sourceFiles(): string[] {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
    .map((name) => `src/${name}`);
}

/** The part of a page below a heading, up to the next heading of the same or a higher level. */
export function section(page: string, heading: string): string {
  const lines = textOf(page).split('\n');
  const start = lines.findIndex(
    (line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading,
  );
  if (start === -1) throw new Error(`${page} has no heading "${heading}"`);
  const level = lines[start]?.match(/^#+/)?.[0].length ?? 1;
  const end = lines.findIndex(
    (line, index) => index > start && new RegExp(`^#{1,${level}} `).test(line),
  );
  return lines.slice(start + 1, end === -1 ? undefined : end).join('\n');
}

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: (Block & { indent: string }) | null = null;
  for (const [index, line] of textOf(page).split('\n').entries()) {
    const [fence, indent = '', language = ''] = /^( *)```(\S*)$/.exec(line) ?? [];
    if (open === null && fence !== undefined)
      open = { page, line: index + 1, language, text: '', indent };
    else if (open !== null && fence !== undefined) {
      blocks.push({ page, line: open.line, language: open.language, text: open.text });
      open = null;
    } else if (open !== null)
      open.text += `${line.startsWith(open.indent) ? line.slice(open.indent.length) : line}\n`;
  }
  return blocks;
}

/** A page without its blocks and the comments of HTML. */
export function proseOf(page: string): string {
  return textOf(page)
    .replace(/<!--.*?-->/gs, '')
    .replace(/^( *)```.*?^ *```$/gms, '');
}

/** What a page writes as code: the texts between single backticks. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}
