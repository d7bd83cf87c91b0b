import type { Env } from '../../base/env.ts';
import type { Ids } from '../../base/ids.ts';
import { sandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type {
  ResponseItem,
  TurnStartParams,
  TurnSteerParams,
  UntimedItem,
} from '../../protocol/generated/types.ts';
import type { Author, LogEntry, StoredItem } from '../../store/log-entry.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { mayBeSeen, mayRead } from '../../tools/may-read.ts';
import { sandboxFolders } from '../../tools/sandbox-folders.ts';
import type { Instructions } from '../prompt/instructions.ts';
import { toolOutputItems } from '../prompt/tool-output-items.ts';
import { userMessage, userMessageItem } from '../prompt/user-message.ts';

interface TurnInputDeps {
  settings: ThreadSettings;
  /** Absolute: heddle's home. */
  home: string;
  /** The server's own environment. */
  env: Env;
  instructions: Instructions;
  ids: Ids;
  atMs: number;
}

/** Input of a user that is stored: the item for clients, and the items for the model. */
export interface ArrivedInput {
  item: UntimedItem;
  model: AuthoredItem[];
  atMs: number;
  /** The parts check it before the model reads it. It is stored as an unfinished item. */
  isWithheld?: true;
}

/** A message that begins or joins a turn. */
export interface TurnMessage {
  params: TurnStartParams | TurnSteerParams;
  author: InputAuthor;
}

/** The author of input: a client's user, or the agent that started this one. */
export type InputAuthor = 'user' | 'parent';

/**
 * The input of a request, for clients and for the model, without the context that it adds; null if
 * the request has none.
 */
export async function turnInput(
  { params, author }: TurnMessage,
  { settings, home, env, instructions, ids, atMs }: TurnInputDeps,
): Promise<ArrivedInput | null> {
  if ('toolOutput' in params && params.toolOutput) {
    const { item, model } = await toolOutputItems(params.toolOutput, ids);
    return { item, model: authored(null, model), atMs };
  }
  const bounds = () =>
    sandboxBounds(settings.sandboxPolicy, sandboxFolders(settings, { home, env }));
  // Files that a model names must be ones that the commands of this thread could read.
  const mayLieAt = await mayRead(author === 'parent' ? bounds() : null);
  const { message, notes } = await userMessage(params.input, mayLieAt);
  const model = [
    ...authored(author, message === null ? [] : [message]),
    ...authored('server', notes),
    ...authored(
      'server',
      await instructions.skillsNamedIn(params.input, settings, {
        mayLieAt,
        mayBeSeen: () => mayBeSeen(bounds()),
      }),
    ),
  ];
  if (params.input.length === 0 && model.length === 0) return null;
  return {
    item: userMessageItem(ids.next(), params.input, params.clientUserMessageId ?? null),
    model,
    atMs,
  };
}

/** The log entries of this input. None if it is withheld. */
export function inputEntries(turnId: string, input: ArrivedInput | null): LogEntry[] {
  if (input === null || input.isWithheld) return [];
  const { item, model, atMs } = input;
  return [
    { kind: 'item', turnId, item, startedAtMs: atMs, completedAtMs: atMs },
    ...model.map((each) => authoredEntry(turnId, each)),
  ];
}

/**
 * The part of a step that keeps withheld input as an unfinished item, which clients see after a
 * kill, and the model does not read.
 */
export function withheldItem(turnId: string, input: ArrivedInput | null): { partial?: StoredItem } {
  return input?.isWithheld ? { partial: storedInput(turnId, input) } : {};
}

export function storedInput(turnId: string, { item, atMs }: ArrivedInput): StoredItem {
  return { turnId, item, startedAtMs: atMs, completedAtMs: null };
}

type ModelItemEntry = Extract<LogEntry, { kind: 'model' }>;

/**
 * The log entries of items that the model reads. `author`: of the messages; null: the items are the
 * model's.
 */
export function modelEntries(
  turnId: string | null,
  items: readonly ResponseItem[],
  author: Author | null,
): ModelItemEntry[] {
  return authored(author, items).map((each) => authoredEntry(turnId, each));
}

export function authored(author: Author | null, items: readonly ResponseItem[]): AuthoredItem[] {
  return items.map((item) => ({ item, author }));
}

function authoredEntry(turnId: string | null, { item, author }: AuthoredItem): ModelItemEntry {
  return { kind: 'model', turnId, item, ...(author === null ? {} : { author }) };
}
