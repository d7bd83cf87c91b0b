import type { ResponseItem } from '../../protocol/generated/types.ts';
import { type CallOutputItem, isCallOutput, outputCallId } from '../../store/model-items.ts';
import { itemSize } from './item-size.ts';

/** Replaces the output of a call that has none. */
const CALL_CUT_OFF = 'This call was cut off before it gave an output.';

/**
 * Makes a history valid for model APIs, item by item. The items of one response, which end where an
 * item comes that the model did not make, are followed by the outputs of its calls in the order of
 * the calls, with a placeholder for a missing output. Outputs without their call, reasoning that no
 * other item of the model follows, and items that are not for models are left out. The same history
 * gives the same prompt.
 */
export class PromptItems {
  #prompt: ResponseItem[] = [];
  /**
   * The indexes of outputs in the prompt, by call id. Providers may reuse an id: across responses
   * the last call counts, and within one response the outputs belong to the calls in their order.
   */
  readonly #indexes = new Map<string, number[]>();
  /** The index of the last output that has come, by call id. */
  readonly #lastOutputs = new Map<string, number>();
  #awaited: MissingOutput[] = [];
  readonly #madeTogether = new Set<string>();
  /**
   * Reasoning at the end, which stays if another item of the model follows: providers refuse it
   * otherwise.
   */
  #reasoning: ResponseItem[] = [];
  #bytes = 0;
  #tokens = 0;
  #tokensOfModel = 0;
  /** Null: the model has made no item yet. */
  #tokensOfPrefix: number | null = null;

  /** The approximate size of the prompt's JSON in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The approximate number of tokens. */
  get tokens(): number {
    return this.#tokens;
  }

  /** The approximate number of tokens up to the last item that the model made. */
  get tokensOfModel(): number {
    return this.#tokensOfModel;
  }

  /** The approximate number of tokens before the first item that the model made. */
  get tokensOfPrefix(): number {
    return this.#tokensOfPrefix ?? this.#tokens;
  }

  /**
   * Adds items that stand for an earlier part of the history, which the model did not make as they
   * are. Call it first.
   */
  begin(items: readonly ResponseItem[]): void {
    for (const item of items) this.add(item);
    this.#tokensOfModel = 0;
    this.#tokensOfPrefix = null;
  }

  /** Adds the next item of the history. */
  add(item: ResponseItem): void {
    if (isNotForModels(item)) return;
    const missing = missingOutput(item);
    const endsResponse = !isOfModel(item);
    if (endsResponse || this.#awaited.some(({ call_id }) => call_id === missing?.call_id))
      this.#addMissing();
    if (missing !== null) this.#awaited.push(missing);
    if (endsResponse) this.#madeTogether.clear();
    if (isCallOutput(item)) this.#fill(item);
    else if (item.type === 'reasoning') this.#reasoning.push(forModel(item));
    else this.#push(forModel(item));
  }

  /** Puts an output in the place of the last one that has come for its call. */
  replace(item: ResponseItem): void {
    const index = this.#lastOutputs.get(outputCallId(item) ?? '');
    if (index !== undefined) this.#put(index, item);
  }

  /** The prompt so far. */
  list(): ResponseItem[] {
    return [...this.#prompt, ...this.#awaited];
  }

  /** A copy to which further items can be added. */
  copy(): PromptItems {
    const copy = new PromptItems();
    copy.#prompt = [...this.#prompt];
    for (const [id, indexes] of this.#indexes) copy.#indexes.set(id, indexes);
    for (const [id, index] of this.#lastOutputs) copy.#lastOutputs.set(id, index);
    copy.#awaited = [...this.#awaited];
    for (const id of this.#madeTogether) copy.#madeTogether.add(id);
    copy.#reasoning = [...this.#reasoning];
    [copy.#bytes, copy.#tokens, copy.#tokensOfModel] = [
      this.#bytes,
      this.#tokens,
      this.#tokensOfModel,
    ];
    copy.#tokensOfPrefix = this.#tokensOfPrefix;
    return copy;
  }

  #push(item: ResponseItem): number {
    const isModels = isOfModel(item);
    if (isModels) this.#tokensOfPrefix ??= this.#tokens;
    if (isModels) for (const thought of this.#reasoning) this.#append(thought);
    this.#reasoning = [];
    const index = this.#append(item);
    if (isModels) this.#tokensOfModel = this.#tokens;
    return index;
  }

  #append(item: ResponseItem): number {
    this.#count(item, 1);
    return this.#prompt.push(item) - 1;
  }

  #addMissing(): void {
    for (const missing of this.#awaited) {
      const { call_id } = missing;
      const before = this.#madeTogether.has(call_id) ? (this.#indexes.get(call_id) ?? []) : [];
      this.#indexes.set(call_id, [...before, this.#push(missing)]);
      this.#madeTogether.add(call_id);
    }
    this.#awaited = [];
  }

  /** Puts an output in the place of its placeholder. */
  #fill(output: CallOutputItem): void {
    const callId = output.call_id ?? '';
    const [index, ...further] = this.#indexes.get(callId) ?? [];
    if (index === undefined || !this.#put(index, output)) return;
    this.#indexes.set(callId, further);
    this.#lastOutputs.set(callId, index);
  }

  /** False: the item at this index is not of the same type. */
  #put(index: number, output: ResponseItem): boolean {
    const before = this.#prompt[index];
    if (before?.type !== output.type) return false;
    const item = forModel(output);
    this.#count(before, -1);
    this.#count(item, 1);
    this.#prompt[index] = item;
    return true;
  }

  #count(item: ResponseItem, by: 1 | -1): void {
    const { bytes, tokens } = itemSize(item);
    this.#bytes += by * bytes;
    this.#tokens += by * tokens;
  }
}

type MissingOutput = ResponseItem & { call_id: string };

/**
 * The item that replaces the output of this call until there is one; null if the item is not a
 * call.
 */
function missingOutput(item: ResponseItem): MissingOutput | null {
  switch (item.type) {
    case 'function_call':
      return { type: 'function_call_output', call_id: item.call_id, output: CALL_CUT_OFF };
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', call_id: item.call_id, output: CALL_CUT_OFF };
    case 'local_shell_call':
      return item.call_id
        ? { type: 'function_call_output', call_id: item.call_id, output: CALL_CUT_OFF }
        : null;
    case 'tool_search_call':
      if (!item.call_id || item.execution !== 'client') return null;
      return {
        type: 'tool_search_output',
        call_id: item.call_id,
        execution: 'client',
        status: 'completed',
        tools: [],
      };
    default:
      return null;
  }
}

/** Whether the model made an item, so that reasoning before it has a result. */
function isOfModel(item: ResponseItem): boolean {
  return !(item.type === 'message' && item.role !== 'assistant') && !isCallOutput(item);
}

/** Whether an item is kept in the history only. */
function isNotForModels(item: ResponseItem): boolean {
  return (
    item.type === 'ghost_snapshot' ||
    item.type === 'other' ||
    item.type === 'compaction_trigger' ||
    item.type === 'configuration_update'
  );
}

/**
 * Removes the id, because it names something that the provider was asked not to store, and reduces
 * an output to its body. A generated image keeps its id, as its only reference, and a web search,
 * because its item may have the same id. Encrypted reasoning keeps it, because some providers want
 * it back.
 */
function forModel<Item extends ResponseItem>(item: Item): Item {
  if (item.type === 'image_generation_call' || item.type === 'web_search_call') return item;
  if (item.type === 'reasoning' && item.encrypted_content) return item;
  const { id: _, ...rest } = item as Item & { id?: unknown };
  if (!isCallOutput(item) || item.type === 'tool_search_output') return rest as Item;
  const { output } = item;
  return {
    ...rest,
    output: typeof output === 'object' && !Array.isArray(output) ? output.body : output,
  } as Item;
}
