import type { Clock } from '../../base/clock.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { summaryRequest, transcriptMessage } from '../../instructions/messages/summary-message.ts';
import type { Model, ModelRequest, ToolSpec } from '../../model/model.ts';
import type {
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
} from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { askAside } from '../aside/ask-aside.ts';
import { isToolCall } from '../calls/run-tool-call.ts';
import { otherError } from '../loop/running-turn.ts';
import { PromptItems } from '../prompt/prompt-items.ts';
import { REFUSED_TOKENS_MIN } from './prompt-limit.ts';
import { summaryTranscript } from './summary-transcript.ts';

/** How long the summary may take, with all its requests. */
const SUMMARY_MS_MAX = 5 * 60 * 1000;
/** How many requests are made for one summary. */
const REQUESTS_MAX = 5;
const UNPROCESSABLE = 422;
/**
 * The first transcript takes this part of the room, and of a prompt that was refused as too long;
 * each further one half of the one before.
 */
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
  /** The request without its input and tools. */
  request: Omit<ModelRequest, 'input' | 'tools'>;
  /**
   * The tools of the thread's own requests, which come before the input: with them, the provider
   * finds most of the first request in its cache. A model that calls one has not answered.
   */
  tools: ToolSpec[];
  /** The user's own prompt; null: the server's. */
  prompt: string | null;
  /** The approximate length of the items. */
  tokens: number;
  /** How many tokens a request may have. */
  room: number;
  /** Whether the items are known to be too long for one request. */
  isTooLong: boolean;
}

/**
 * A summary. `isCut`: the oldest part did not fit and is not covered. The error is null if the
 * signal aborted.
 */
export type Summary = { text: string; isCut: boolean } | { error: TurnError | null };

/**
 * Asks a model to summarize items: first as they are; as text, if it refuses them; and with less of
 * the text each time that it is too long. Never rejects unless `onUsage` does.
 */
export async function summarize(
  deps: SummaryDeps,
  options: SummaryOptions,
  signal: AbortSignal,
): Promise<Summary> {
  const tooLate = new AbortController();
  const timer = deps.clock.setTimer(() => tooLate.abort(), SUMMARY_MS_MAX);
  try {
    const summary = await attempts(deps, options, AbortSignal.any([signal, tooLate.signal]));
    if (signal.aborted) return { error: null };
    if (tooLate.signal.aborted)
      return {
        error: otherError(`The model gave no summary within ${SUMMARY_MS_MAX / 60_000} minutes.`),
      };
    return summary;
  } finally {
    timer.clear();
  }
}

async function attempts(
  deps: SummaryDeps,
  options: SummaryOptions,
  signal: AbortSignal,
): Promise<Summary> {
  const { items, tokens, room, isTooLong } = options;
  // The caller has estimated the tokens of all items.
  await new EventLoopYield().yielded();
  if (isTooLong)
    return ofTranscripts(
      deps,
      options,
      { tokensMax: roomBelow(tokens, room), requestsMax: REQUESTS_MAX },
      signal,
    );
  const summary = await attempt(
    deps,
    options,
    { input: await asPrompt(items), tools: options.tools, isCut: false },
    signal,
  );
  if ('text' in summary) return summary;
  if (isExceeded(summary))
    return ofTranscripts(
      deps,
      options,
      { tokensMax: roomBelow(tokens, room), requestsMax: REQUESTS_MAX - 1 },
      signal,
    );
  if (!mayBeForItems(summary.error)) return summary;
  const ofText = await ofTranscripts(
    deps,
    options,
    { tokensMax: room, requestsMax: REQUESTS_MAX - 1 },
    signal,
  );
  return 'text' in ofText || isExceeded(ofText) ? ofText : summary;
}

interface Transcripts {
  /** The first transcript takes a part of so many tokens. */
  tokensMax: number;
  requestsMax: number;
}

/** Asks with the items as text, and with half as much each time that it is too long. */
async function ofTranscripts(
  deps: SummaryDeps,
  options: SummaryOptions,
  { tokensMax, requestsMax }: Transcripts,
  signal: AbortSignal,
): Promise<Summary> {
  let summary: Summary = { error: null };
  for (let request = 0; request < requestsMax && !signal.aborted; request++) {
    const charsMax = charsOfTokens(tokensMax * TRANSCRIPT_SHARE) / 2 ** request;
    summary = await attempt(
      deps,
      options,
      { ...asText(options.items, charsMax), tools: [] },
      signal,
    );
    if (!isExceeded(summary)) return summary;
  }
  return summary;
}

async function attempt(
  deps: SummaryDeps,
  { request, prompt }: SummaryOptions,
  { input, tools, isCut }: { input: ResponseItem[]; tools: ToolSpec[]; isCut: boolean },
  signal: AbortSignal,
): Promise<Summary> {
  const answer = await askAside(
    deps.model,
    { ...request, tools, input: [...input, summaryRequest(prompt)] },
    signal,
  );
  if ('error' in answer) return answer;
  if (answer.usage !== null) await deps.onUsage(answer.usage);
  const text = answer.items.some(isToolCall) ? '' : answer.text.trim();
  return text === ''
    ? { error: otherError('The model answered without a summary. Compact the thread again.') }
    : { text, isCut };
}

function isExceeded(summary: Summary): boolean {
  return 'error' in summary && summary.error?.codexErrorInfo === 'contextWindowExceeded';
}

/** The room for items of which so many tokens were refused as too long. The room may be a guess. */
function roomBelow(tokens: number, room: number): number {
  return Math.min(room, Math.max(REFUSED_TOKENS_MIN, tokens));
}

/**
 * Whether a model may have refused the items for what they are, such as calls or images. It can
 * read the text whatever they are.
 */
function mayBeForItems(error: TurnError | null): boolean {
  const info = error?.codexErrorInfo ?? null;
  if (info === null || typeof info === 'string') return info === 'other' || info === 'badRequest';
  return (
    'httpConnectionFailed' in info && info.httpConnectionFailed.httpStatusCode === UNPROCESSABLE
  );
}

/**
 * The items as they were sent before. Lets other work run, also at the end: to send many items
 * takes long, too.
 */
async function asPrompt(items: readonly AuthoredItem[]): Promise<ResponseItem[]> {
  const prompt = new PromptItems();
  const breaks = new EventLoopYield();
  for await (const { item } of inSlices(items, 1, breaks)) prompt.add(item);
  const list = prompt.list();
  await breaks.yielded();
  return list;
}

function asText(
  items: readonly AuthoredItem[],
  charsMax: number,
): { input: ResponseItem[]; isCut: boolean } {
  const { text, isCut } = summaryTranscript(items, charsMax);
  return { input: [transcriptMessage(text, { isCut })], isCut };
}

/** The warning for clients about a compaction that lost something; null: nothing was lost. */
export function lossOf(summary: Summary): string | null {
  if ('error' in summary) {
    const cut =
      'The conversation became too long and could not be summarized, so its oldest part was cut from what the model reads.';
    return withReason(`${cut} The history keeps it.`, summary.error);
  }
  return summary.isCut
    ? 'The conversation was too long to be summarized as a whole: the summary does not cover its oldest part.'
    : null;
}

/** A text for clients, with the error that it is about. */
export function withReason(text: string, error: TurnError | null): string {
  return error === null ? text : `${text} ${error.message}`;
}
