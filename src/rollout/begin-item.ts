import { isObject } from '../base/json-value.ts';
import type { MessagePhase, ResponseItem, UntimedItem } from '../protocol/generated/types.ts';
import { memoryCitation } from './memory-citation.ts';

/** Returns the item that clients see when a model begins this output, or null if it has none. (Tool calls make their own items.) */
export function beginItem(source: ResponseItem, id: string): UntimedItem | null {
  switch (source.type) {
    case 'message':
      return source.role === 'assistant'
        ? {
            type: 'agentMessage',
            id,
            text: '',
            phase: shownPhase(source.phase),
            memoryCitation: null,
            delivery: null,
            questions: null,
            moderation: null,
          }
        : null;
    case 'reasoning':
      return { type: 'reasoning', id, summary: [], content: [] };
    case 'web_search_call':
      return { type: 'webSearch', id, ...searched(source.action) };
    case 'image_generation_call':
      return { type: 'imageGeneration', id, status: source.status ?? 'in_progress', revisedPrompt: null, result: '', savedPath: null };
    default:
      return null;
  }
}

/** Returns the item once the model has completed it. The completed text replaces the text of the deltas. */
export function completeItem(draft: UntimedItem, source: ResponseItem, showRawReasoning: boolean): UntimedItem {
  if (draft.type === 'agentMessage' && source.type === 'message') {
    const { text, citation } = memoryCitation(messageText(source));
    return { ...draft, text, memoryCitation: citation, phase: shownPhase(source.phase ?? draft.phase) };
  }
  if (draft.type === 'reasoning' && source.type === 'reasoning') {
    const content = showRawReasoning ? (source.content ?? []).map((part) => part.text) : [];
    return { ...draft, summary: source.summary.map((part) => part.text), content };
  }
  if (draft.type === 'webSearch' && source.type === 'web_search_call') return { ...draft, ...searched(source.action) };
  if (draft.type === 'imageGeneration' && source.type === 'image_generation_call') {
    return { ...draft, status: source.status, revisedPrompt: source.revised_prompt ?? null, result: source.result ?? '' };
  }
  return draft;
}

/** Hides phases that were added to the protocol later, because clients drop an item with an unknown phase. */
function shownPhase(phase: MessagePhase | null | undefined): MessagePhase | null {
  return phase === 'commentary' || phase === 'final_answer' ? phase : null;
}

/** The joined text of a message's parts. */
export function messageText(message: Extract<ResponseItem, { type: 'message' }>): string {
  return message.content.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('');
}

type WebSearch = Extract<UntimedItem, { type: 'webSearch' }>;

/** A web search as clients see it. Clients show the first value that the action names as its query. */
export function searched(action: unknown): Pick<WebSearch, 'query' | 'action'> {
  if (!isObject(action)) return { query: '', action: null };
  const text = (key: string) => (typeof action[key] === 'string' ? action[key] : null);
  const queries = Array.isArray(action.queries) ? action.queries.filter((query) => typeof query === 'string') : null;
  switch (action.type) {
    case 'search':
      return { query: text('query') ?? queries?.[0] ?? '', action: { type: 'search', query: text('query'), queries } };
    case 'open_page':
      return { query: text('url') ?? '', action: { type: 'openPage', url: text('url') } };
    case 'find_in_page':
      return { query: text('pattern') ?? '', action: { type: 'findInPage', url: text('url'), pattern: text('pattern') } };
    default:
      return { query: '', action: { type: 'other' } };
  }
}
