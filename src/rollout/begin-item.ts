import { isObject } from '../base/json-value.ts';
import type {
  MessagePhase,
  ResponseItem,
  UntimedItem,
  WebSearchAction,
} from '../protocol/generated/types.ts';
import { memoryCitation } from './memory-citation.ts';

/**
 * Returns the item that clients see when a model begins this output, or null if it has none. (Tool
 * calls make their own items.)
 */
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
      return { type: 'webSearch', id, ...searched(source.action), results: searchResults(source) };
    case 'image_generation_call':
      return {
        type: 'imageGeneration',
        id,
        status: source.status ?? 'in_progress',
        revisedPrompt: null,
        result: '',
        savedPath: null,
      };
    default:
      return null;
  }
}

/**
 * Returns the item once the model has completed it. The completed text replaces the text of the
 * deltas.
 */
export function completeItem(
  draft: UntimedItem,
  source: ResponseItem,
  showRawReasoning: boolean,
): UntimedItem {
  if (draft.type === 'agentMessage' && source.type === 'message') {
    const { text, citation } = memoryCitation(rolloutMessageText(source));
    return {
      ...draft,
      text,
      memoryCitation: citation,
      phase: shownPhase(source.phase ?? draft.phase),
    };
  }
  if (draft.type === 'reasoning' && source.type === 'reasoning') {
    const content = showRawReasoning ? (source.content ?? []).map((part) => part.text) : [];
    return { ...draft, summary: source.summary.map((part) => part.text), content };
  }
  if (draft.type === 'webSearch' && source.type === 'web_search_call')
    return { ...draft, ...searched(source.action), results: searchResults(source) };
  if (draft.type === 'imageGeneration' && source.type === 'image_generation_call') {
    return {
      ...draft,
      status: source.status,
      revisedPrompt: source.revised_prompt ?? null,
      result: source.result ?? '',
    };
  }
  return draft;
}

/**
 * Hides phases that were added to the protocol later, because clients drop an item with an unknown
 * phase.
 */
function shownPhase(phase: MessagePhase | null | undefined): MessagePhase | null {
  return phase === 'commentary' || phase === 'final_answer' ? phase : null;
}

/** The joined text of a message's parts. */
export function rolloutMessageText(message: Extract<ResponseItem, { type: 'message' }>): string {
  return message.content
    .map((part) => ('text' in part && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

/** A web search as clients see it. Until the model says what it does, its action is `other`. */
export function searched(action: unknown): { query: string; action: WebSearchAction } {
  if (!isObject(action)) return { query: '', action: { type: 'other' } };
  const text = (key: string) => (typeof action[key] === 'string' ? action[key] : null);
  const queries = Array.isArray(action.queries)
    ? action.queries.filter((query) => typeof query === 'string')
    : null;
  switch (action.type) {
    case 'search':
      return {
        query: text('query') || firstOf(queries ?? []),
        action: { type: 'search', query: text('query'), queries },
      };
    case 'open_page':
      return { query: text('url') ?? '', action: { type: 'openPage', url: text('url') } };
    case 'find_in_page':
      return {
        query: foundIn(text('pattern'), text('url')),
        action: { type: 'findInPage', url: text('url'), pattern: text('pattern') },
      };
    default:
      return { query: '', action: { type: 'other' } };
  }
}

/**
 * The results that a search came with; null: it came without any. Their form is that of the
 * provider.
 */
export function searchResults(source: object): unknown[] | null {
  return 'results' in source && Array.isArray(source.results) ? source.results : null;
}

/**
 * The item as its model reads it again. Its provider takes no results back: they are for clients.
 */
export function withoutResults(source: ResponseItem): ResponseItem {
  if (source.type !== 'web_search_call' || !('results' in source)) return source;
  const { results: _, ...rest } = source;
  return rest;
}

/** The first of a search's queries, marked if there are more. */
function firstOf([first = '', ...others]: readonly string[]): string {
  return first !== '' && others.length > 0 ? `${first} ...` : first;
}

function foundIn(pattern: string | null, url: string | null): string {
  if (pattern === null) return url ?? '';
  return url === null ? `'${pattern}'` : `'${pattern}' in ${url}`;
}
