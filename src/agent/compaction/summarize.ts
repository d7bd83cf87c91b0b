import type { Clock } from '../../base/clock.ts';
import { summaryRequest, transcriptMessage } from '../../instructions/summary-message.ts';
import type { Model, ModelRequest } from '../../model/model.ts';
import type { ResponseItem, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { askAside } from '../aside/ask-aside.ts';
import { PromptItems } from '../prompt/prompt-items.ts';
import { otherError } from '../turn/turn-deps.ts';
import { transcript } from './transcript.ts';

/** How long the summary may take, with all its requests. */
const SUMMARY_MS_MAX = 5 * 60 * 1000;
/** How many requests are made for one summary. Only the first has the whole conversation. */
const REQUESTS_MAX = 5;
const CHARS_PER_TOKEN = 4;
/** The first transcript takes this part of the room; each further one half of the one before. */
const TRANSCRIPT_SHARE = 0.7;

interface SummaryDeps {
  model: Model;
  clock: Clock;
  /** Takes the tokens that a request has used. */
  onUsage(usage: TokenUsageBreakdown): Promise<void>;
}

interface SummaryOptions {
  /** The messages to summarize. */
  items: readonly AuthoredItem[];
  /** The request without its input. */
  request: Omit<ModelRequest, 'input'>;
  /** The user's own prompt; null: the server's. */
  prompt: string | null;
  /** How many tokens a request may have. */
  room: number;
  /** Whether the items are known to be too long for one request. */
  isTooLong: boolean;
}

/** A summary. `isCut`: the oldest part did not fit and is not covered. The error is null if the signal aborted. */
export type Summary = { text: string; isCut: boolean } | { error: TurnError | null };

/**
 * Asks a model to summarize items: as they are, and if that is too long for it, as text, of which less is sent each time. Never rejects
 * unless `onUsage` does.
 */
export async function summarize(deps: SummaryDeps, options: SummaryOptions, signal: AbortSignal): Promise<Summary> {
  const tooLate = new AbortController();
  const timer = deps.clock.setTimer(() => tooLate.abort(), SUMMARY_MS_MAX);
  try {
    const summary = await attempts(deps, options, AbortSignal.any([signal, tooLate.signal]));
    if (signal.aborted) return { error: null };
    if (tooLate.signal.aborted) return { error: otherError(`The model gave no summary within ${SUMMARY_MS_MAX / 60_000} minutes.`) };
    return summary;
  } finally {
    timer.clear();
  }
}

async function attempts(deps: SummaryDeps, options: SummaryOptions, signal: AbortSignal): Promise<Summary> {
  let last: Summary = { error: null };
  for (let attempt = 0; attempt < REQUESTS_MAX && !signal.aborted; attempt++) {
    const { items, isCut } = input(options, options.isTooLong ? attempt + 1 : attempt);
    const answer = await askAside(deps.model, { ...options.request, input: [...items, summaryRequest(options.prompt)] }, signal);
    if ('text' in answer) {
      if (answer.usage !== null) await deps.onUsage(answer.usage);
      const text = answer.text.trim();
      return text === '' ? { error: otherError('The model answered without a summary.') } : { text, isCut };
    }
    last = answer;
    if (answer.error?.codexErrorInfo !== 'contextWindowExceeded') return last;
  }
  return last;
}

/** The input of a request: the first has the items as they are, each further one a shorter transcript. */
function input({ items, room }: SummaryOptions, attempt: number): { items: ResponseItem[]; isCut: boolean } {
  if (attempt === 0) return { items: asPrompt(items), isCut: false };
  return asText(items, (room * TRANSCRIPT_SHARE * CHARS_PER_TOKEN) / 2 ** (attempt - 1));
}

/** The items as they were sent before, so that the provider finds them in its cache. */
function asPrompt(items: readonly AuthoredItem[]): ResponseItem[] {
  const prompt = new PromptItems();
  for (const { item } of items) prompt.add(item);
  return prompt.list();
}

function asText(items: readonly AuthoredItem[], charsMax: number): { items: ResponseItem[]; isCut: boolean } {
  const { text, isCut } = transcript(items, charsMax);
  return { items: [transcriptMessage(text, { isCut })], isCut };
}

/** The warning for clients about a compaction that lost something; null: nothing was lost. */
export function lossOf(summary: Summary): string | null {
  if ('error' in summary) {
    const cut = 'The conversation became too long and could not be summarized, so its oldest part was cut from what the model reads.';
    return `${cut} The history keeps it. ${summary.error?.message ?? ''}`;
  }
  return summary.isCut ? 'The conversation was too long to be summarized as a whole: the summary does not cover its oldest part.' : null;
}
