import { sleep } from '../../base/clock.ts';
import type { Tool } from '../../tools/tool.ts';
import type { EndedResponse } from '../turn/turn-part.ts';
import { askModel } from './ask-model.ts';
import type { CompletedResponse, ModelResponse, RequestTools } from './model-response.ts';
import type { RunningTurn } from './running-turn.ts';

/** A response, and whether a part has an answer to its failure: the model is then asked again. */
interface AskedResponse {
  response: ModelResponse;
  again: boolean;
}

/**
 * Asks the model once, and runs the calls of its response while it still responds. Resolves when
 * the response and its calls have ended, however they did: what the model had completed, and the
 * outputs of its calls, are then in the history. Rejects if the model throws, or if the store has
 * failed, and then too, the calls have ended.
 */
export async function respond(run: RunningTurn, tools: readonly Tool[]): Promise<AskedResponse> {
  const { thread, turn, conversation } = run;
  const calls = run.calls.ofResponse({ tools, turn, withoutOwn: conversation.withoutOwn });
  try {
    const response = await responseEnd(run, { tools, calls });
    // At once, because the calls may run for long.
    if (response.ended === 'stopped' && !turn.signal.aborted)
      await thread.outbox.commit({ dropped: run.response?.drop() ?? [] });
    if (isTooLong(response) && turn.kind !== 'review')
      await thread.outbox.commit(thread.usage.exceeded(turn));
    let again = false;
    if (response.ended !== 'broken') again = await isAnswered(run, endedResponse(response));
    else if (response.delayMs > 0)
      await sleep(
        thread.services.runtime.clock,
        response.delayMs,
        AbortSignal.any([turn.signal, turn.newInput]),
      );
    return { response, again };
  } finally {
    await calls.ended();
  }
}

function isTooLong(response: ModelResponse): boolean {
  return response.ended === 'failed' && response.error.codexErrorInfo === 'contextWindowExceeded';
}

async function responseEnd(run: RunningTurn, offered: RequestTools): Promise<ModelResponse> {
  try {
    const response = await askModel(run, offered);
    if (response.ended === 'completed') await showRaw(run, response);
    return response;
  } finally {
    await offered.calls.responded();
  }
}

/**
 * Announces the end of a response to clients that have asked for raw events: before the outputs of
 * its calls.
 */
async function showRaw(
  { thread, turn, conversation, sequence }: RunningTurn,
  response: CompletedResponse,
): Promise<void> {
  const announce = conversation.showsMessages ? thread.raw.completed(turn.id, response) : [];
  if (announce.length > 0) await thread.outbox.commit({ announce }, sequence);
}

/** Whether a part has an answer to the failure of this response. */
async function isAnswered(
  { turn, conversation: { parts } }: RunningTurn,
  response: EndedResponse,
): Promise<boolean> {
  const results = await parts?.results('requestEnded', turn, (part) =>
    part.requestEnded(response, turn),
  );
  return results?.some(({ again }) => again === true) ?? false;
}

/** The end of a response, as the parts of the turn see it. */
function endedResponse(response: Exclude<ModelResponse, { ended: 'broken' }>): EndedResponse {
  const usage = response.ended === 'completed' ? response.usage : null;
  if (response.ended === 'failed') return { status: 'failed', error: response.error, usage };
  return {
    status: response.ended === 'completed' ? 'completed' : 'interrupted',
    error: null,
    usage,
  };
}
