import type { ResponseItem } from '../../protocol/generated/types.ts';

/** Replaces the output of a call that has none. */
const CALL_CUT_OFF = 'This call was cut off before it gave an output.';

/**
 * Makes a history valid for model APIs. Calls that were made together are followed by their outputs in the same order, with a
 * placeholder for a missing output. Outputs without their call, reasoning that no other item of the model follows, and items that
 * are not for models are left out. Pure: the same history gives the same prompt.
 */
export function promptItems(history: readonly ResponseItem[]): ResponseItem[] {
  const prompt: ResponseItem[] = [];
  // The indexes of outputs in the prompt, by call id. Providers may reuse an id: across responses the last call counts, and within one
  // response the outputs belong to the calls in their order.
  const indexes = new Map<string, number[]>();
  let awaited: MissingOutput[] = [];
  const madeTogether = new Set<string>();
  const addMissing = () => {
    for (const missing of awaited) {
      const { call_id } = missing;
      const before = madeTogether.has(call_id) ? (indexes.get(call_id) ?? []) : [];
      indexes.set(call_id, [...before, prompt.push(missing) - 1]);
      madeTogether.add(call_id);
    }
    awaited = [];
  };
  for (const item of history) {
    if (isNotForModels(item)) continue;
    const missing = missingOutput(item);
    if (missing === null || awaited.some(({ call_id }) => call_id === missing.call_id)) addMissing();
    if (missing !== null) awaited.push(missing);
    else madeTogether.clear();
    if (!isOutput(item)) {
      prompt.push(forModel(item));
      continue;
    }
    const [index, ...further] = indexes.get(item.call_id ?? '') ?? [];
    if (index === undefined || prompt[index]?.type !== item.type) continue;
    prompt[index] = forModel(item);
    indexes.set(item.call_id ?? '', further);
  }
  addMissing();
  return withoutLooseReasoning(prompt);
}

type MissingOutput = ResponseItem & { call_id: string };

/** The item that replaces the output of this call until there is one; null if the item is not a call. */
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

/** Whether an item is kept in the history only. */
function isNotForModels(item: ResponseItem): boolean {
  return (
    item.type === 'ghost_snapshot' || item.type === 'other' || item.type === 'compaction_trigger' || item.type === 'configuration_update'
  );
}

/**
 * Removes the id, because it names something that the provider was asked not to store (a generated image keeps it, as its only
 * reference), and reduces an output to its body.
 */
function forModel<Item extends ResponseItem>(item: Item): Item {
  if (item.type === 'image_generation_call') return item;
  const { id: _, ...rest } = item as Item & { id?: unknown };
  if (!isOutput(item)) return rest as Item;
  const { output } = item;
  return { ...rest, output: typeof output === 'object' && !Array.isArray(output) ? output.body : output } as Item;
}

/** Removes reasoning that no other item of the model follows, as in a response that was cut off. Providers refuse it. */
function withoutLooseReasoning(items: ResponseItem[]): ResponseItem[] {
  const kept: ResponseItem[] = [];
  let hasResult = false;
  for (const item of items.toReversed()) {
    if (item.type !== 'reasoning') hasResult = !(item.type === 'message' && item.role !== 'assistant') && !isOutput(item);
    if (item.type !== 'reasoning' || hasResult) kept.push(item);
  }
  return kept.reverse();
}
