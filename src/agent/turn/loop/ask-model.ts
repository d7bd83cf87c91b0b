import { orAborted } from '../../../base/or-aborted.ts';
import type { ModelRequest } from '../../../model/model.ts';
import type { TurnError } from '../../../protocol/generated/types.ts';
import { PatchPreviews } from '../../items/patch-previews.ts';
import { ResponseItems } from '../../items/response-items.ts';
import { requestIdentity } from '../../prompt/request-identity.ts';
import type { ModelResponse, RequestTools } from './model-response.ts';
import { responseLimits } from './response-limits.ts';
import { otherError, type RunningTurn } from './running-turn.ts';
import { type MadeItems, type ResponseReading, takeEvent } from './take-event.ts';

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
  const { thread, calls: ofThread, turn, conversation, broken } = run;
  const { clock, ids } = thread.services.runtime;
  const { configuration } = thread.state;
  run.broken = null;
  const prepared = await conversation.request(turn, tools);
  if ('message' in prepared) return { ended: 'failed', error: prepared };
  const request = sentRequest(run, prepared.request, broken);
  const signal = AbortSignal.any([turn.beginRequest(), run.sequence.signal]);
  const items = new ResponseItems({
    threadId: thread.id,
    turnId: turn.id,
    clock,
    outbox: thread.outbox,
    sequence: run.sequence,
    newId: () => ids.next(),
    searchItemId: (modelId) =>
      turn.kind === 'review' ? ids.next() : ofThread.searchItemId(modelId),
    shownReasoning: configuration.shownReasoning,
    planMode: turn.settings.collaborationMode.mode === 'plan',
    withoutOwn: conversation.withoutOwn,
    showsMessages: conversation.showsMessages,
    onMessage: (item) => {
      run.lastMessage = item;
    },
    shownBefore: broken?.shownBefore ?? null,
  });
  const previews = new PatchPreviews({
    threadId: thread.id,
    turnId: turn.id,
    clock,
    announce: (announcement) => thread.outbox.announceDelta(announcement, run.sequence),
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
      events: configuration.model.stream(request, signal),
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
  const { thread, turn } = run;
  const { providerState } = turn;
  const { headers, clientMetadata } = requestIdentity({
    record: thread.state.record,
    turn,
    kind: turn.kind === 'review' ? 'review' : 'turn',
  });
  return {
    ...prepared,
    headers: {
      ...headers,
      ...(providerState === null ? {} : { 'x-codex-turn-state': providerState }),
    },
    clientMetadata,
    ...(broken?.retries === undefined ? {} : { retries: broken.retries }),
  };
}

async function readEvents(run: RunningTurn, reading: ResponseReading): Promise<ModelResponse> {
  const { id: threadId, outbox, services } = run.thread;
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
    const unread = services.clients.drained({ threadId });
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
