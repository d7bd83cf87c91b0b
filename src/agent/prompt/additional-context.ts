import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonValue } from '../../base/json-value.ts';
import { cutMiddleBytes } from '../../base/text/cut-middle-bytes.ts';
import { estimateTokens } from '../../base/text/estimate-tokens.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import { messageText } from '../../model/message-text.ts';
import type { AdditionalContextEntry, ResponseItem } from '../../protocol/generated/types.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { itemSize } from './item-size.ts';

/** The context that a client adds for the model, by name. */
type Given = Record<string, AdditionalContextEntry>;

/**
 * The longest text of an entry that the model reads, in bytes of UTF-8. Of a longer one it reads
 * the start and the end.
 */
const TEXT_BYTES_MAX = 4_000;
/** The most entries of one request. */
const ENTRIES_MAX = 100;

/** Throws if a request adds too many entries. */
export function checkAdditionalContext(given: Given | null | undefined): void {
  const count = Object.keys(given ?? {}).length;
  if (count > ENTRIES_MAX)
    throw invalidParams(
      `params.additionalContext must have at most ${ENTRIES_MAX} entries: it has ${count}`,
    );
}

/**
 * The messages with the context that a client adds, except for those that are in the prompt since
 * the request before this one. `told`: what the model was told last, as the thread's record has it,
 * and what it is told then: the same object if nothing has changed.
 */
export function additionalContext(
  given: Given | null | undefined,
  told: JsonValue,
): { messages: ResponseItem[]; told: JsonValue } {
  const names = Object.keys(given ?? {}).sort();
  const all = names.flatMap((name) =>
    given?.[name] === undefined ? [] : [entryMessage(name, given[name])],
  );
  const before = marksIn(told);
  const marks = all.map(markOf);
  return {
    messages: all.filter((message) => !before.has(markOf(message))),
    told: isDeepStrictEqual([...before], marks) ? told : withMarks(told, marks),
  };
}

/**
 * Of the part of a prompt that a compaction replaces: the context that clients have added last.
 * Empty if it has more tokens than that.
 */
export function additionalContextIn(
  body: readonly AuthoredItem[],
  told: JsonValue,
  tokensMax: number,
): AuthoredItem[] {
  const last = new Map<string, AuthoredItem>();
  for (const each of addedByClients(body, told)) {
    const mark = markOf(each.item);
    // One that was told again stands where it was told last.
    last.delete(mark);
    last.set(mark, each);
  }
  const kept = [...last.values()];
  return kept.reduce((sum, { item }) => sum + itemSize(item).tokens, 0) > tokensMax ? [] : kept;
}

/**
 * Returns `told` after a compaction: of the context that clients have added, the model knows only
 * the part that is in the new prompt.
 */
export function toldAfterCompaction(
  told: JsonValue,
  { before, prompt }: { before: JsonValue; prompt: readonly AuthoredItem[] },
): JsonValue {
  return withMarks(told, [
    ...new Set(addedByClients(prompt, before).map(({ item }) => markOf(item))),
  ]);
}

/** Returns `told`, with the context that clients have added as in `before`. */
export function withAdditional(told: JsonValue, before: JsonValue): JsonValue {
  const marks = marksIn(before);
  return marks.size === 0 ? told : withMarks(told, [...marks]);
}

function entryMessage(name: string, { kind, value }: AdditionalContextEntry): ResponseItem {
  const text = `<context name=${JSON.stringify(cut(name))}>\n${cut(value)}\n</context>`;
  return contextMessage(kind === 'application' ? 'developer' : 'user', [text]);
}

function cut(text: string): string {
  return cutMiddleBytes(
    text,
    TEXT_BYTES_MAX,
    (charsLeftOut) => `…${Math.ceil(estimateTokens(charsLeftOut))} tokens truncated…`,
  );
}

/** Of a prompt, the messages with the context that clients have added last. */
function addedByClients(items: readonly AuthoredItem[], told: JsonValue): AuthoredItem[] {
  const marks = marksIn(told);
  return marks.size === 0
    ? []
    : items.filter(({ item, author }) => author === 'server' && marks.has(markOf(item)));
}

/** Identifies a message by what the model reads of it. */
function markOf(item: ResponseItem): string {
  const read = item.type === 'message' ? [item.role, messageText(item)] : [];
  return createHash('sha256').update(JSON.stringify(read)).digest('base64');
}

function marksIn(told: JsonValue): ReadonlySet<string> {
  const marks = isObject(told) && Array.isArray(told.additional) ? told.additional : [];
  return new Set(marks.filter((mark) => typeof mark === 'string'));
}

function withMarks(told: JsonValue, marks: readonly string[]): JsonValue {
  return { ...(isObject(told) ? told : {}), additional: [...marks] };
}
