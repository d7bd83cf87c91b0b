import type { Ids } from '../base/ids.ts';
import type { ResponseItem, ThreadItem, UserInput } from '../protocol/generated/types.ts';
import type { LogEntry } from '../store/thread-store.ts';
import { beginItem, completeItem, messageText } from './begin-item.ts';

/** The start of messages that a harness sends in the user's name to describe the environment. They are not the user's messages. */
const CONTEXT_START =
  /^\s*(<(environment_context|user_instructions|user_action|user_shell_command|turn_aborted|turn_interrupted|skill|context|thread_goal|review|conversation_summary|conversation_cut|subagent_notification|permissions instructions)\b|# AGENTS\.md instructions)/;

/**
 * Makes the log of a thread that begins with a given history: every item for the model, and the items that clients see. A
 * turn begins at each user message.
 */
export function historyEntries(history: readonly ResponseItem[], { ids, now }: { ids: Ids; now: number }): LogEntry[] {
  const entries: LogEntry[] = [];
  let turnId: string | null = null;
  const end = () => {
    if (turnId !== null) entries.push({ kind: 'turnEnded', turnId, status: 'completed', error: null, completedAtMs: now, durationMs: 0 });
  };
  for (const source of history) {
    if (turnId === null || isUserMessage(source)) {
      end();
      turnId = ids.next();
      entries.push({ kind: 'turnStarted', turnId, startedAtMs: now });
    }
    const item = shownItem(source, ids);
    if (item !== null) entries.push({ kind: 'item', turnId, item, startedAtMs: now, completedAtMs: now });
    entries.push({ kind: 'model', turnId, item: source });
  }
  end();
  return entries;
}

/** Whether this is a message of the user, and not of a harness in the user's name. */
export function isUserMessage(source: ResponseItem): boolean {
  return source.type === 'message' && source.role === 'user' && !isContext(messageText(source));
}

export function isContext(text: string): boolean {
  return CONTEXT_START.test(text);
}

/** Returns the item that clients see for an item that the model read or wrote, or null if there is none. */
export function shownItem(source: ResponseItem, ids: Ids): ThreadItem | null {
  if (source.type === 'message' && isUserMessage(source))
    return { type: 'userMessage', id: ids.next(), clientId: null, content: userContent(source) };
  const draft = beginItem(source, ids.next());
  return draft === null ? null : completeItem(draft, source, false);
}

function userContent(message: Extract<ResponseItem, { type: 'message' }>): UserInput[] {
  return message.content.flatMap((part): UserInput[] => {
    if (part.type === 'input_image')
      return 'image_url' in part && typeof part.image_url === 'string' ? [{ type: 'image', url: part.image_url }] : [];
    return 'text' in part && typeof part.text === 'string' ? [{ type: 'text', text: part.text, text_elements: [] }] : [];
  });
}
