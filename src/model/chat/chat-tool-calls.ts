import { isObject, parsedJson } from '../../base/json-value.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { ModelEvent } from '../model.ts';

/** The most calls in one response; no model means to make more. */
const CALLS_MAX = 1_000;

interface Call {
  index: number | null;
  id: string;
  name: string;
  args: string[];
}

/** One received piece of a call; fields that were not sent are empty. */
interface Fragment {
  index: number | null;
  id: string;
  name: string;
  args: string;
}

/**
 * Assembles the calls of one response from their fragments. Servers differ: a call comes whole or
 * in pieces; id and name are in the first piece or in each; the index may be missing, or the same
 * for all calls; the id may be missing.
 */
export class ChatToolCalls {
  readonly #calls: Call[] = [];
  readonly #customNames: ReadonlySet<string>;
  /** Makes an id, unique in the thread, for the call with this number. */
  readonly #makeId: (number: number) => string;

  constructor({
    customNames,
    makeId,
  }: { customNames: ReadonlySet<string>; makeId: (number: number) => string }) {
    this.#customNames = customNames;
    this.#makeId = makeId;
  }

  get any(): boolean {
    return this.#calls.length > 0;
  }

  /**
   * Takes the `tool_calls` of one delta and adds the resulting events to `events`. Returns null, or
   * the problem as a sentence without a subject.
   */
  add(value: unknown, events: ModelEvent[]): string | null {
    if (value === undefined || value === null) return null;
    if (!Array.isArray(value)) return 'sent "tool_calls" that are not an array';
    for (const each of value) {
      const fragment = readFragment(each);
      if (fragment === null) return 'sent a tool call in an unknown form';
      const call = this.#continued(fragment) ?? this.#begin(fragment);
      if (call === null) return `sent more than ${CALLS_MAX} tool calls`;
      take(call, fragment, events);
    }
    return null;
  }

  /**
   * Returns the calls as items; or, if one is not valid, the problem as a sentence without a
   * subject.
   */
  items(): ResponseItem[] | string {
    const ids = new Set<string>();
    const items: ResponseItem[] = [];
    for (const [number, { id, name, args }] of this.#calls.entries()) {
      if (name === '') return 'sent a tool call without a name';
      const callId = id === '' || ids.has(id) ? this.#makeId(number) : id;
      ids.add(callId);
      const text = args.join('');
      if (this.#customNames.has(name))
        items.push({ type: 'custom_tool_call', call_id: callId, name, input: customInput(text) });
      else items.push({ type: 'function_call', call_id: callId, name, arguments: text });
    }
    return items;
  }

  #begin({ index, id, name }: Fragment): Call | null {
    if (this.#calls.length >= CALLS_MAX) return null;
    const call: Call = { index, id, name, args: [] };
    this.#calls.push(call);
    return call;
  }

  /** Returns the call that a fragment continues; undefined if it begins a new one. */
  #continued(fragment: Fragment): Call | undefined {
    const { index, id, name } = fragment;
    const named =
      id === ''
        ? undefined
        : this.#calls.findLast(
            (call) => call.id === id && (index === null || call.index === index),
          );
    if (named !== undefined) return named;
    const open =
      index === null ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === index);
    if (open === undefined || name === '') return open;
    if (id !== '' && open.id !== '') return undefined;
    if (open.name === '') return open;
    const isNext =
      name !== open.name ||
      (fragment.args !== '' && mayBeWhole(open.args) && isWhole(open.args.join('')));
    return isNext ? undefined : open;
  }
}

function take(call: Call, { id, name, args }: Fragment, events: ModelEvent[]): void {
  if (call.id === '') call.id = id;
  if (call.name === '') call.name = name;
  if (args === '') return;
  call.args.push(args);
  // A call without an id or a name so far is reported whole, at its end.
  if (call.id !== '' && call.name !== '')
    events.push({
      type: 'callDelta',
      callId: call.id,
      name: call.name,
      custom: false,
      delta: args,
    });
}

function readFragment(value: unknown): Fragment | null {
  if (!isObject(value)) return null;
  const { index, id, function: called = {} } = value;
  if (!isObject(called)) return null;
  const { name, arguments: args } = called;
  if (!isTextOrAbsent(id) || !isTextOrAbsent(name)) return null;
  return {
    index: typeof index === 'number' && Number.isSafeInteger(index) ? index : null,
    id: id ?? '',
    name: name ?? '',
    args: argumentsText(args),
  };
}

function isTextOrAbsent(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string';
}

function argumentsText(args: unknown): string {
  if (typeof args === 'string') return args;
  return args === undefined || args === null ? '' : JSON.stringify(args);
}

/** A cheap look at the last piece: a call may come in thousands of them. */
function mayBeWhole(pieces: readonly string[]): boolean {
  const last = pieces.at(-1)?.trimEnd() ?? '';
  return last === '' || last.endsWith('}');
}

function isWhole(args: string): boolean {
  return args.trimEnd().endsWith('}') && parsedJson(args) !== undefined;
}

/**
 * Returns the one argument; or everything that the model wrote, if it is not an object with that
 * argument.
 */
function customInput(args: string): string {
  const value = parsedJson(args);
  return isObject(value) && typeof value.input === 'string' ? value.input : args;
}
