import { TagSplitter } from '../base/text/tag-splitter.ts';
import type { MemoryCitation } from '../protocol/generated/types.ts';

/** A line of a citation: `path:first-last|note=[text]`. */
const ENTRY = /^(.+):(\d+)-(\d+)\|note=\[(.*)\]$/;
const LINE_MAX = 2 ** 32 - 1;

/**
 * Splits a message that streams into its text and the citations of memories in it, which clients do
 * not read as text. A message may also speak about the tag: it counts only before the lists of a
 * citation.
 */
export function citationSplitter(): TagSplitter {
  const before = ['<citation_entries>', '<rollout_ids>', '<thread_ids>'];
  return new TagSplitter({ open: '<oai-mem-citation>', close: '</oai-mem-citation>', before });
}

/**
 * A whole message without its citations, and what they cite; null: nothing. Lines that are no
 * entries are left out.
 */
export function memoryCitation(message: string): { text: string; citation: MemoryCitation | null } {
  const splitter = citationSplitter();
  const spans = [...splitter.push(message), ...splitter.end()];
  const joined = (isInside: boolean) =>
    spans
      .filter((span) => span.isInside === isInside)
      .map((span) => span.text)
      .join('');
  const cited = joined(true);
  const entries = linesIn(cited, ['citation_entries']).flatMap(readEntry);
  const threadIds = [...new Set(linesIn(cited, ['rollout_ids', 'thread_ids']))];
  return {
    text: joined(false),
    citation: entries.length + threadIds.length === 0 ? null : { entries, threadIds },
  };
}

/** The lines between tags of these names that are not blank. */
function linesIn(text: string, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const close = `</${name}>`;
    const end = text.lastIndexOf(close);
    // Without its end, the last line may be cut off.
    if (end === -1) return [];
    const lines = new TagSplitter({ open: `<${name}>`, close })
      .push(text.slice(0, end + close.length))
      .flatMap((span) => (span.isInside ? span.text.split('\n') : []));
    return lines.map((line) => line.trim()).filter((line) => line !== '');
  });
}

function readEntry(line: string): MemoryCitation['entries'] {
  const found = ENTRY.exec(line);
  if (found === null) return [];
  const [, path = '', first, last, note = ''] = found;
  const [lineStart, lineEnd] = [Number(first), Number(last)];
  return lineStart <= LINE_MAX && lineEnd <= LINE_MAX ? [{ path, lineStart, lineEnd, note }] : [];
}
