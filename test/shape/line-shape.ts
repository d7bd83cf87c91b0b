import { nodesOf, type SourceFile } from './read-source.ts';

const COLUMNS_MAX = 100;

/** What neither the formatter nor a person can divide: strings, templates and patterns. */
const WHOLE = ['Literal', 'TemplateLiteral', 'TSLiteralType', 'TSTemplateLiteralType'];

interface Range {
  start: number;
  end: number;
}

/**
 * The lines of a file that are wider than 100 columns, as `path:line`, except where they would fit
 * without one string, template or pattern, or one address in a comment.
 */
export function wideLines({ path, text, program, comments }: SourceFile): string[] {
  const lines = text.split('\n');
  if (!lines.some((line) => line.length > COLUMNS_MAX)) return [];
  const wholes = [...nodesOf(program)].filter(({ type }) => WHOLE.includes(type));
  const indivisible: Range[] = [...wholes, ...comments.flatMap(addressesIn)];
  const wide: string[] = [];
  let start = 0;
  for (const [index, line] of lines.entries()) {
    const end = start + line.length;
    const columnsOf = (one: Range) => Math.min(one.end, end) - Math.max(one.start, start);
    const fitsWithout = (one: Range) => line.length - columnsOf(one) <= COLUMNS_MAX;
    if (line.length > COLUMNS_MAX && !indivisible.some(fitsWithout))
      wide.push(`${path}:${index + 1}`);
    start = end + 1;
  }
  return wide;
}

function addressesIn({ start, value }: { start: number; value: string }): Range[] {
  return [...value.matchAll(/https?:\/\/\S+/g)].map(({ index, 0: address }) => {
    const from = start + '//'.length + index;
    return { start: from, end: from + address.length };
  });
}
