import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import { visibleJson } from '../../base/text/visible-json.ts';
import { withoutMiddle } from '../../base/text/without-middle.ts';
import { messageText, outputText } from '../../model/message-text.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { authorOf } from '../../rollout/author-of.ts';
import { HIDDEN } from '../../secrets/redact-likely-secrets.ts';
import type { AuthoredItem } from '../../store/model-items.ts';

/**
 * The parts of the transcript for what the user said, and for what the user answered or approved: a
 * flood of output cannot displace it. The agent has written a part of each answer and approval, so
 * these have room of their own and cannot displace what the user said.
 */
const SHARES = { user: 0.4, answered: 0.1, other: 0.5 };
/**
 * The most characters of one entry, and the part of the room for its kind that it takes at most.
 * Longer ones lose their middle.
 */
const ENTRY_CHARS_MAX = { user: 8_000, answered: 8_000, other: 4_000 };
const ENTRY_SHARE = 0.5;
/** The characters beside a cut that are read to recognize secrets at the cut, such as a token. */
const MARGIN_CHARS = 2_000;
/** The rest of a private key or a token at the start of a text that was cut off before. */
const KEY_REST =
  /^(?:[\w+/=.-]{40,}|[^\n\\]{0,80}(?:\\[rn]|[\r\n])+[\w+/=-]{40,})(?:(?:\\[rn]|\s)+[\w+/=-]{16,})*/;

/**
 * The author of an entry of the transcript. `context`: from the server or from files of the
 * project, not from a person.
 */
type EntryAuthor = 'user' | 'approval' | 'parent' | 'context' | 'agent' | 'tool';

interface Entry {
  from: EntryAuthor;
  /** Further facts about the entry. */
  facts: JsonObject;
  text: string;
}

/** The lines of entries that were made before, and the limit of their length. */
export type KnownLines = WeakMap<ResponseItem, { line: string; charsMax: number }>;

export interface TranscriptOptions {
  /**
   * Hides the secrets in a text. What the user says and what tools return decides too, so this is
   * the mask of actions.
   */
  mask(text: string): string;
  /** The most characters of the transcript. */
  charsMax: number;
  /** The goal that the user has set for the thread; null: none. */
  goal: string | null;
  known: KnownLines;
  breaks: EventLoopYield;
}

/** The beginning of the message that tells that a person has overruled a denial. */
export const APPROVAL_TAG = '<approved_action>';

/**
 * A thread's history for the guardian: a line of JSON for each entry, so no text can end its entry.
 * The oldest entries are left out if there is too much. Reasoning and images are left out.
 */
export async function transcript(
  history: readonly AuthoredItem[],
  options: TranscriptOptions,
): Promise<string> {
  const room = new Room(options.charsMax);
  const goal = goalLines(room, options);
  const lines: string[] = [];
  let at = history.length;
  let omitted = 0;
  for await (const read of inSlices(history.toReversed(), 1, options.breaks)) {
    if (room.isFull) break;
    at--;
    const entry = withQuestion(entryOf(read), { history, at }, options);
    if (entry === null) continue;
    const kind = kindOf(entry);
    const line = room.has(kind) ? knownLine(read.item, entry, options) : null;
    if (line !== null && room.take(kind, line)) lines.push(line);
    else omitted++;
  }
  omitted += history.slice(0, at).filter(isShown).length;
  if (omitted > 0) lines.push(JSON.stringify({ omitted: `${omitted} earlier entries` }));
  return [...goal, ...lines.reverse()].join('\n');
}

/** The tool whose output is the answer of the user. */
const ASKS = 'request_user_input';

/**
 * The user's answer to a question of the agent is shown with the question, so that no output can
 * displace one of them alone. Without the question, the answer says nothing that is certainly the
 * user's: the agent may have written its words.
 */
function withQuestion(
  entry: Entry | null,
  { history, at }: { history: readonly AuthoredItem[]; at: number },
  { mask }: TranscriptOptions,
): Entry | null {
  const id = entry?.from === 'user' ? entry.facts.call : null;
  if (entry === null || typeof id !== 'string') return entry;
  const asked = questionOf(id, history.slice(0, at));
  return asked === null
    ? { ...entry, from: 'tool' }
    : { ...entry, facts: { ...entry.facts, askedByAgent: mask(asked) } };
}

/**
 * The question that the next output of a call answers. Null: it is not there, or another call of
 * the same id may be meant.
 */
function questionOf(id: string, before: readonly AuthoredItem[]): string | null {
  const same = before
    .filter(({ item }) => 'call_id' in item && item.call_id === id)
    .map(({ item }) => item);
  const [asked, earlier] = [same.at(-1), same.at(-2)];
  return asked?.type === 'function_call' && asked.name === ASKS && earlier?.type !== 'function_call'
    ? asked.arguments
    : null;
}

/** The user's goal, which stays if the messages about it are cut. */
function goalLines(room: Room, { goal, mask, charsMax }: TranscriptOptions): string[] {
  if (goal === null) return [];
  const entry: Entry = { from: 'user', facts: { is: 'the goal of the thread' }, text: goal };
  const line = entryLine(entry, { mask, charsMax: entryCharsMax('user', charsMax) });
  room.take('user', line);
  return [line];
}

type Kind = keyof typeof SHARES;

function kindOf({ from, facts }: Entry): Kind {
  if (from === 'approval' || (from === 'user' && 'askedByAgent' in facts)) return 'answered';
  return from === 'user' ? 'user' : 'other';
}

/** The characters that are left for entries of each kind. */
class Room {
  readonly #left: Record<Kind, number>;

  constructor(charsMax: number) {
    const [user, answered] = [
      Math.floor(charsMax * SHARES.user),
      Math.floor(charsMax * SHARES.answered),
    ];
    this.#left = { user, answered, other: charsMax - user - answered };
  }

  get isFull(): boolean {
    return !this.has('user') && !this.has('answered') && !this.has('other');
  }

  has(kind: Kind): boolean {
    return this.#left[kind] > 0;
  }

  /** Returns false if there is no room for the line. Then there is none for earlier ones either. */
  take(kind: Kind, { length }: string): boolean {
    const left = this.#left[kind] - length;
    this.#left[kind] = Math.max(0, left);
    return left >= 0;
  }
}

function entryCharsMax(kind: Kind, charsMax: number): number {
  return Math.min(ENTRY_CHARS_MAX[kind], Math.floor(charsMax * SHARES[kind] * ENTRY_SHARE));
}

/**
 * The line of an item. Makes it once: hiding secrets takes time, and each review has most of the
 * lines of the one before.
 */
function knownLine(
  item: ResponseItem,
  entry: Entry,
  { mask, charsMax: transcriptMax, known }: TranscriptOptions,
): string {
  const charsMax = entryCharsMax(kindOf(entry), transcriptMax);
  const before = known.get(item);
  if (before?.charsMax === charsMax) return before.line;
  const line = entryLine(entry, { mask, charsMax });
  known.set(item, { line, charsMax });
  return line;
}

function entryLine(
  { from, facts, text }: Entry,
  { mask, charsMax }: Pick<TranscriptOptions, 'mask' | 'charsMax'>,
): string {
  return visibleJson({ from, ...facts, text: shortened(text, charsMax, mask) });
}

/** The text without secrets, and without its middle if it is too long. */
function shortened(text: string, charsMax: number, mask: (text: string) => string): string {
  const part = Math.ceil(charsMax / 2) + MARGIN_CHARS;
  if (text.length <= 2 * part) {
    const whole = mask(text);
    return whole.length <= charsMax
      ? whole
      : withoutMiddle(whole, whole, { charsMax, length: whole.length });
  }
  const end = mask(text.slice(-part)).replace(KEY_REST, HIDDEN);
  return withoutMiddle(mask(text.slice(0, part)), end, { charsMax, length: text.length });
}

/** Whether an item has an entry. */
function isShown(read: AuthoredItem): boolean {
  const { type } = read.item;
  return type === 'message' ? messageAuthor(read) !== null : SHOWN_TYPES.has(type);
}

const SHOWN_TYPES = new Set<ResponseItem['type']>([
  ...(['function_call', 'custom_tool_call', 'local_shell_call', 'web_search_call'] as const),
  ...(['function_call_output', 'custom_tool_call_output'] as const),
]);

function entryOf(read: AuthoredItem): Entry | null {
  const { item } = read;
  switch (item.type) {
    case 'message':
      return messageEntry(item, messageAuthor(read));
    case 'function_call':
      return {
        ...call(item.name, item.call_id, item.arguments),
        from: read.author === 'parent' ? 'parent' : 'agent',
      };
    case 'custom_tool_call':
      return call(item.name, item.call_id, item.input);
    case 'local_shell_call':
      return call('local_shell', item.call_id ?? null, JSON.stringify(item.action));
    case 'function_call_output':
    case 'custom_tool_call_output': {
      // The user's answer to a question of the agent is the output of the call that asked it.
      const from = authorOf(read) === 'user' ? 'user' : 'tool';
      return { from, facts: { call: item.call_id ?? null }, text: outputText(item.output) };
    }
    case 'web_search_call':
      return {
        from: 'agent',
        facts: { tool: 'web_search' },
        text: isObject(item.action) ? JSON.stringify(item.action) : '',
      };
    default:
      return null;
  }
}

function messageEntry(
  item: Extract<ResponseItem, { type: 'message' }>,
  from: EntryAuthor | null,
): Entry | null {
  const text = messageText(item);
  if (from === null || (from === 'agent' && text === '')) return null;
  return { from, facts: {}, text };
}

/**
 * Null: the message says nothing about what the user wants, such as the instructions of the model.
 */
function messageAuthor(read: AuthoredItem): EntryAuthor | null {
  const { item } = read;
  if (item.type === 'message' && item.role === 'assistant') return 'agent';
  const author = authorOf(read);
  if (author === 'user' || author === 'approval' || author === 'parent') return author;
  return author === 'context' && item.type === 'message' && item.role !== 'user' ? null : 'context';
}

function call(tool: string, id: string | null, text: string): Entry {
  return { from: 'agent', facts: { tool, call: id }, text };
}
