import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { cutText } from '../../base/text/cut-text.ts';
import type { ToolSpec } from '../../model/model.ts';

/**
 * The constants of BM25: how fast a repeated word loses weight, and how much long texts count less.
 */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
/** A word of a tool's name says more than one of its description. */
const NAME_WEIGHT = 3;
/** No more of a query, and of the description of a tool, is searched. */
const QUERY_CHARS_MAX = 1_000;
const TOOL_CHARS_MAX = 20_000;
const QUERY_WORDS_MAX = 50;

interface Words {
  counts: ReadonlyMap<string, number>;
  length: number;
}

/** The words of tools, made when they are first searched. */
export type ToolWords = WeakMap<ToolSpec, Words>;

interface RankOptions {
  /** The most tools. */
  limit: number;
  words: ToolWords;
}

/**
 * The tools that fit a query best, by BM25 over their names, descriptions and parameters. None
 * without a common word. Lets other work run in between.
 */
export async function rankTools<Tool extends { spec: ToolSpec }>(
  tools: readonly Tool[],
  query: string,
  { limit, words }: RankOptions,
): Promise<Tool[]> {
  const breaks = new EventLoopYield();
  const wanted = [...new Set(wordsOf(cutText(query, QUERY_CHARS_MAX)))].slice(0, QUERY_WORDS_MAX);
  const all: { tool: Tool; of: Words }[] = [];
  for await (const tool of inSlices(tools, 1, breaks)) {
    const of = words.get(tool.spec) ?? toolWords(tool.spec);
    words.set(tool.spec, of);
    all.push({ tool, of });
  }
  const meanLength = all.reduce((sum, { of }) => sum + of.length, 0) / Math.max(1, all.length);
  const weights: number[] = [];
  for await (const word of inSlices(wanted, all.length, breaks)) {
    weights.push(rarity(all.filter(({ of }) => of.counts.has(word)).length, all.length));
  }
  const scored: { tool: Tool; score: number }[] = [];
  for await (const { tool, of } of inSlices(all, 1, breaks)) {
    const norm =
      SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * of.length) / Math.max(1, meanLength));
    const score = wanted.reduce((sum, word, index) => {
      const count = of.counts.get(word) ?? 0;
      return sum + ((weights[index] ?? 0) * count * (SATURATION + 1)) / (count + norm);
    }, 0);
    if (score > 0) scored.push({ tool, score });
  }
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ tool }) => tool);
}

function toolWords(spec: ToolSpec): Words {
  const namespace = spec.type === 'function' ? spec.namespace : undefined;
  const counts = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(cutText(text, TOOL_CHARS_MAX))) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
      length += weight;
    }
  };
  add(spec.name, NAME_WEIGHT);
  add(namespace?.name ?? '', NAME_WEIGHT);
  add(`${spec.description} ${namespace?.description ?? ''} ${parametersText(spec)}`, 1);
  return { counts, length };
}

/** The names and descriptions of the parameters. */
function parametersText(spec: ToolSpec): string {
  const properties = spec.type === 'function' ? spec.parameters.properties : null;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return '';
  return Object.entries(properties)
    .map(([name, value]) => {
      const description =
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? value.description
          : '';
      return `${name} ${typeof description === 'string' ? description : ''}`;
    })
    .join(' ');
}

/**
 * Words in lower case: `closeTicket`, `close_ticket` and "Close ticket" are the same two. A plural
 * counts as its singular.
 */
function wordsOf(text: string): string[] {
  return (
    text
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  ).map((word) => (word.length > 3 ? word.replace(/s$/, '') : word));
}

function rarity(having: number, all: number): number {
  return Math.log(1 + (all - having + 0.5) / (having + 0.5));
}
