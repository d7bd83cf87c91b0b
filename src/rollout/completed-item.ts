import type { MemoryCitation, UntimedItem, UserInput } from '../protocol/generated/types.ts';
import { searched, searchResults } from './begin-item.ts';
import type { Fields } from './fields.ts';
import { reviewReport } from './review-report.ts';
import { recordedPath, rolloutToolItems } from './rollout-tool-items.ts';

/**
 * Converts an item of a rollout, such as `{type: 'AgentMessage', id, …}`, into the item that
 * clients see. Returns null for an unknown type, and for an item without the fields that clients
 * need.
 */
export function completedItem(item: Fields, newId: () => string): UntimedItem | null {
  const type = item.text('type') ?? '';
  const make = Object.hasOwn(ITEMS, type) ? ITEMS[type] : undefined;
  return make?.(item, item.text('id') ?? newId()) ?? null;
}

const ITEMS: Record<string, (item: Fields, id: string) => UntimedItem | null> = {
  ...rolloutToolItems,
  UserMessage: (item, id) => ({
    type: 'userMessage',
    id,
    clientId: item.text('client_id'),
    content: item.objects('content').flatMap(userInput),
  }),
  AgentMessage: (item, id) => ({
    type: 'agentMessage',
    id,
    text: item
      .objects('content')
      .map((part) => part.text('text') ?? '')
      .join(''),
    phase: item.oneOf('phase', ['commentary', 'partial_answer', 'final_answer']),
    memoryCitation: memoryCitation(item),
    delivery: null,
    questions: null,
    moderation: null,
  }),
  Reasoning: (item, id) => ({
    type: 'reasoning',
    id,
    summary: item.texts('summary_text'),
    content: item.texts('raw_content'),
  }),
  Plan: (item, id) => ({ type: 'plan', id, text: item.text('text') ?? '' }),
  WebSearch: (item, id) => {
    const search = searched(item.raw('action'));
    const results = searchResults({ results: item.raw('results') });
    return { type: 'webSearch', id, ...search, query: item.text('query') ?? search.query, results };
  },
  ImageView: (item, id) => {
    const path = recordedPath(item, 'path');
    return path === null ? null : { type: 'imageView', id, path };
  },
  ImageGeneration: (item, id) => ({
    type: 'imageGeneration',
    id,
    status: item.text('status') ?? 'completed',
    revisedPrompt: item.text('revised_prompt'),
    result: item.text('result') ?? '',
    savedPath: recordedPath(item, 'saved_path'),
  }),
  HookPrompt: (item, id) => ({
    type: 'hookPrompt',
    id,
    fragments: item.objects('fragments').map((part) => ({
      text: part.text('text') ?? '',
      hookRunId: part.text('hook_run_id') ?? '',
    })),
  }),
  Sleep: (item, id) => ({
    type: 'sleep',
    id,
    durationMs: Math.max(0, Math.floor(item.number('duration_ms') ?? 0)),
  }),
  EnteredReviewMode: (item, id) => ({
    type: 'enteredReviewMode',
    id,
    review: item.text('user_facing_hint') ?? item.object('target').text('instructions') ?? '',
  }),
  ExitedReviewMode: (item, id) => ({
    type: 'exitedReviewMode',
    id,
    review: reviewText(item.object('review_output')),
  }),
  ContextCompaction: (_item, id) => ({ type: 'contextCompaction', id }),
};

function userInput(part: Fields): UserInput[] {
  const [path, name] = [part.text('path'), part.text('name')];
  const detail = part.oneOf('detail', ['auto', 'low', 'high', 'original']);
  switch (part.text('type')) {
    case 'text':
      return [
        {
          type: 'text',
          text: part.text('text') ?? '',
          text_elements: part.objects('text_elements').map(textElement),
        },
      ];
    case 'image':
      return [{ type: 'image', ...mediaSource(part, 'image_url'), detail }];
    case 'local_image':
      return path === null ? [] : [{ type: 'localImage', path, detail }];
    case 'audio':
      return [{ type: 'audio', ...mediaSource(part, 'audio_url') }];
    case 'local_audio':
      return path === null ? [] : [{ type: 'localAudio', path }];
    case 'skill':
      return path === null || name === null ? [] : [{ type: 'skill', name, path }];
    case 'mention':
      return path === null || name === null ? [] : [{ type: 'mention', name, path }];
    default:
      return [];
  }
}

function mediaSource(part: Fields, key: string): { url: string } | { fileId: string } {
  const fileId = part.text('file_id');
  return fileId === null ? { url: part.text(key) ?? part.text('url') ?? '' } : { fileId };
}

function textElement(element: Fields) {
  const range = element.object('byte_range');
  const offset = (key: string) => Math.max(0, Math.floor(range.number(key) ?? 0));
  return {
    byteRange: { start: offset('start'), end: offset('end') },
    placeholder: element.text('placeholder'),
  };
}

function memoryCitation(item: Fields): MemoryCitation | null {
  if (!item.has('memory_citation')) return null;
  const citation = item.object('memory_citation');
  const line = (entry: Fields, key: string) => Math.max(0, Math.floor(entry.number(key) ?? 0));
  return {
    entries: citation.objects('entries').map((entry) => ({
      path: entry.text('path') ?? '',
      lineStart: line(entry, 'line_start'),
      lineEnd: line(entry, 'line_end'),
      note: entry.text('note') ?? '',
    })),
    threadIds: citation.has('thread_ids')
      ? citation.texts('thread_ids')
      : citation.texts('rollout_ids'),
  };
}

/** The text of a review in a rollout. */
function reviewText(review: Fields): string {
  const findings = review.objects('findings').map((finding) => {
    const location = finding.object('code_location');
    const lines = location.object('line_range');
    return {
      title: finding.text('title') ?? '',
      body: finding.text('body') ?? '',
      path: location.text('absolute_file_path'),
      start: lines.number('start'),
      end: lines.number('end'),
    };
  });
  return reviewReport({ explanation: review.text('overall_explanation') ?? '', findings });
}
