import { orAborted } from '../../../base/or-aborted.ts';
import type { ModelRequest } from '../../../model/model.ts';
import type { TurnError } from '../../../protocol/generated/types.ts';
import { PatchPreviews } from '../../items/patch-previews.ts';
import { ResponseItems } from '../../items/response-items.ts';
import type { ModelResponse, RequestTools } from './model-response.ts';
import { responseLimits } from './response-limits.ts';
import { type MadeItems, type ResponseReading, takeEvent } from './take-event.ts';
import { otherError, type RunningTurn } from './turn-deps.ts';

/** The longest response that is taken from a model, in characters of its deltas. */
const RESPONSE_CHARS_MAX = 32 * 1024 * 1024;
/** The most items in one response. Even short ones are stored and shown. */
const RESPONSE_ITEMS_MAX = 1_000;

/**
 * Sends one request to the model, shows its response to clients, as `run.response`, and begins its
 * calls, each as soon as it is complete and stored. Its items may not be stored yet when it
 * resolves. Rejects if the model throws, or if the store has failed.
 */
export async function askModel(
  run: RunningTurn,
  { tools, calls }: RequestTools,
): Promise<ModelResponse> {
  const { deps, turn, conversation, broken } = run;
  run.broken = null;
  const prepared = await conversation.request(turn, tools);
  if ('message' in prepared) return { ended: 'failed', error: prepared };
  const request = sentRequest(run, prepared.request, broken);
  const signal = AbortSignal.any([turn.beginRequest(), run.sequence.signal]);
  const items = new ResponseItems({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    outbox: deps.outbox,
    sequence: run.sequence,
    newId: () => deps.newId(),
    searchItemId: (modelId) =>
      turn.kind === 'review' ? deps.newId() : deps.calls.searchItemId(modelId),
    shownReasoning: deps.shownReasoning,
    planMode: turn.settings.collaborationMode.mode === 'plan',
    withoutOwn: conversation.withoutOwn,
    showsMessages: conversation.showsMessages,
    onMessage: (item) => {
      run.lastMessage = item;
    },
    shownBefore: broken?.shownBefore ?? null,
  });
  const previews = new PatchPreviews({
    threadId: deps.threadId,
    turnId: turn.id,
    clock: deps.clock,
    announce: (announcement) => deps.outbox.announceDelta(announcement, run.sequence),
  });
  run.response = items;
  try {
    const made: MadeItems = { earlier: broken?.calls ?? [], calls: [], hasCompleted: false };
    return await readEvents(run, {
      items,
      previews,
      tools,
      calls,
      made,
      events: deps.model.stream(request, signal),
      signal,
    });
  } finally {
    turn.endRequest();
    prepared.end();
    items.end();
  }
}

/** The request with who asks, and with what has come of the turn's earlier requests. */
function sentRequest(
  run: RunningTurn,
  prepared: ModelRequest,
  broken: RunningTurn['broken'],
): ModelRequest {
  const { deps, turn, turnState } = run;
  const { headers, clientMetadata } = deps.identity(turn);
  return {
    ...prepared,
    headers: { ...headers, ...(turnState === null ? {} : { 'x-codex-turn-state': turnState }) },
    clientMetadata,
    ...(broken?.retries === undefined ? {} : { retries: broken.retries }),
  };
}

async function readEvents(run: RunningTurn, reading: ResponseReading): Promise<ModelResponse> {
  const { outbox, drained } = run.deps;
  const { signal } = reading;
  const exceededBy = responseLimits({
    charsMax: RESPONSE_CHARS_MAX,
    bytesMax: null,
    itemsMax: RESPONSE_ITEMS_MAX,
  });
  for await (const event of reading.events) {
    if (signal.aborted) break;
    const limit = exceededBy(event);
    if (limit !== null) return { ended: 'failed', error: tooLong(limit) };
    const ended = takeEvent(run, event, reading);
    if (ended !== null) return ended;
    const unstored = outbox.caughtUp();
    if (unstored !== null) await orAborted(unstored, signal);
    const unread = drained();
    if (unread !== null) await orAborted(unread, signal);
  }
  if (run.sequence.failure !== null) throw run.sequence.failure.error;
  if (!signal.aborted)
    return { ended: 'failed', error: otherError('The response stopped before it was complete.') };
  return { ended: 'stopped' };
}

function tooLong(limit: string): TurnError {
  return otherError(`The model's response exceeded the limit of ${limit} and was stopped.`);
}
