import type { ResponseItem } from '../../protocol/generated/types.ts';

/** Said in place of the output of a call that never ran to its end. */
const CALL_CUT_OFF = 'This call was cut off before it gave an output.';

/**
 * A history as a model can take it: calls that were made together are followed by their outputs in the same order (one that
 * never came is said to be missing), no output stands without its call, and no reasoning without what it led to; what only
 * this server or its like understand is left out. Pure: the same history gives the same prompt.
 */
export function promptItems(history: readonly ResponseItem[]): ResponseItem[] {
  const prompt: ResponseItem[] = [];
  // By call id, where outputs belong: that of the last call of that id, as providers may give an id again in a later response, or
  // in their order those of all that were made in one.
  const places = new Map<string, number[]>();
  let awaited: MissingOutput[] = [];
  const madeTogether = new Set<string>();
  const makePlaces = () => {
    for (const missing of awaited) {
      const { call_id } = missing;
      const before = madeTogether.has(call_id) ? (places.get(call_id) ?? []) : [];
      places.set(call_id, [...before, prompt.push(missing) - 1]);
      madeTogether.add(call_id);
    }
    awaited = [];
  };
  for (const item of history) {
    if (isKeptAside(item)) continue;
    const missing = missingOutput(item);
    if (missing === null || awaited.some(({ call_id }) => call_id === missing.call_id)) makePlaces();
    if (missing !== null) awaited.push(missing);
    else madeTogether.clear();
    if (!isOutput(item)) {
      prompt.push(forModel(item));
      continue;
    }
    const [place, ...further] = places.get(item.call_id ?? '') ?? [];
    if (place === undefined || prompt[place]?.type !== item.type) continue;
    prompt[place] = forModel(item);
    places.set(item.call_id ?? '', further);
  }
  makePlaces();
  return withoutLooseReasoning(prompt);
}

type MissingOutput = ResponseItem & { call_id: string };

/** For a call: what stands in for its output where there is none. */
function missingOutput(item: ResponseItem): MissingOutput | null {
  switch (item.type) {
    case 'function_call':
      return { type: 'function_call_output', call_id: item.call_id, output: CALL_CUT_OFF };
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', call_id: item.call_id, output: CALL_CUT_OFF };
    case 'local_shell_call':
      return item.call_id ? { type: 'function_call_output', call_id: item.call_id, output: CALL_CUT_OFF } : null;
    default:
      return null;
  }
}

type Output = Extract<ResponseItem, { type: 'function_call_output' | 'custom_tool_call_output' }>;

function isOutput(item: ResponseItem): item is Output {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}

/** Kept in the history, and nothing for a model to read. */
function isKeptAside(item: ResponseItem): boolean {
  return (
    item.type === 'ghost_snapshot' || item.type === 'other' || item.type === 'compaction_trigger' || item.type === 'configuration_update'
  );
}

/**
 * Without ids, which name things that the provider was asked not to store (a picture is known by its id alone), and of an
 * output its body alone.
 */
function forModel<Item extends ResponseItem>(item: Item): Item {
  if (item.type === 'image_generation_call') return item;
  const { id: _, ...rest } = item as Item & { id?: unknown };
  if (!isOutput(item)) return rest as Item;
  const { output } = item;
  return { ...rest, output: typeof output === 'object' && !Array.isArray(output) ? output.body : output } as Item;
}

/** Providers refuse reasoning that nothing follows from, as a cut-off answer leaves it. */
function withoutLooseReasoning(items: ResponseItem[]): ResponseItem[] {
  const kept: ResponseItem[] = [];
  let led = false;
  for (const item of items.toReversed()) {
    if (item.type !== 'reasoning') led = !(item.type === 'message' && item.role !== 'assistant') && !isOutput(item);
    if (item.type !== 'reasoning' || led) kept.push(item);
  }
  return kept.reverse();
}
