import type { ToolSpec } from '../../model/model.ts';

/** The constants of BM25: how fast a repeated word loses weight, and how much long texts count less. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
/** A word of a tool's name says more than one of its description. */
const NAME_WEIGHT = 3;

interface Ranked<Tool> {
  tool: Tool;
  words: Map<string, number>;
  length: number;
}

/** The tools that fit a query best, by BM25 over their names, descriptions and parameters. None without a common word. */
export function rankTools<Tool extends { spec: ToolSpec }>(tools: readonly Tool[], query: string, limit: number): Tool[] {
  const wanted = [...new Set(wordsOf(query))];
  const all = tools.map(rankable);
  const meanLength = all.reduce((sum, { length }) => sum + length, 0) / Math.max(1, all.length);
  const weights = new Map(wanted.map((word) => [word, rarity(all.filter(({ words }) => words.has(word)).length, all.length)]));
  const scored = all.map(({ tool, words, length }) => {
    const score = wanted.reduce((sum, word) => {
      const count = words.get(word) ?? 0;
      const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / Math.max(1, meanLength));
      return sum + ((weights.get(word) ?? 0) * count * (SATURATION + 1)) / (count + norm);
    }, 0);
    return { tool, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ tool }) => tool);
}

function rankable<Tool extends { spec: ToolSpec }>(tool: Tool): Ranked<Tool> {
  const { spec } = tool;
  const namespace = spec.type === 'function' ? spec.namespace : undefined;
  const words = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) {
      words.set(word, (words.get(word) ?? 0) + weight);
      length += weight;
    }
  };
  add(spec.name, NAME_WEIGHT);
  add(namespace?.name ?? '', NAME_WEIGHT);
  add(`${spec.description} ${namespace?.description ?? ''} ${parametersText(spec)}`, 1);
  return { tool, words, length };
}

/** The names and descriptions of the parameters. */
function parametersText(spec: ToolSpec): string {
  const properties = spec.type === 'function' ? spec.parameters.properties : null;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return '';
  return Object.entries(properties)
    .map(([name, value]) => {
      const description = typeof value === 'object' && value !== null && !Array.isArray(value) ? value.description : '';
      return `${name} ${typeof description === 'string' ? description : ''}`;
    })
    .join(' ');
}

/** Words in lower case: `closeTicket`, `close_ticket` and "Close ticket" are the same two. A plural counts as its singular. */
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
