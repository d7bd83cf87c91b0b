import type { LoadedThread } from '../../agent/threads/loaded-thread.ts';
import type { Ids } from '../../base/ids.ts';
import type { JsonValue } from '../../base/json-value.ts';
import { turnActive, turnMismatch } from '../../protocol/errors/turn-errors.ts';
import { internal, type RpcError, refused } from '../../protocol/rpc-error.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';
import type { ThreadServices } from '../thread-loading/thread-services.ts';

/** A request of a client, whether it has begun or waits for earlier ones. */
interface Sampling {
  abort: AbortController;
  /**
   * Interrupts the turn that runs, if the client has asked for that. Does nothing until the request
   * has begun.
   */
  interrupt: () => void;
}

/** Questions to the model of a thread that leave the thread as it is. */
export function sampleMethods({ threads, store, ids }: ThreadServices) {
  /** By the params of the request, so that a cancel can come before the request begins. */
  const samplings = new WeakMap<object, Sampling>();
  const samplingOf = (params: object): Sampling => {
    const sampling = samplings.get(params) ?? { abort: new AbortController(), interrupt: () => {} };
    samplings.set(params, sampling);
    return sampling;
  };
  return {
    // No queue: it waits for the model.
    'thread/sample': {
      order: unqueued,
      async handle(params, { caller }) {
        const {
          threadId,
          expectedTurnId,
          prompt,
          effort = null,
          responsesapiClientMetadata,
        } = params;
        const sampling = samplingOf(params);
        const thread = threads.require(threadId);
        sampling.interrupt = () => {
          if (params.interruptOnCancel === true && thread.turn?.id === expectedTurnId)
            thread.turns.interrupt(expectedTurnId)();
        };
        const signal = AbortSignal.any([sampling.abort.signal, caller.gone]);
        if (signal.aborted) {
          sampling.interrupt();
          throw cancelled();
        }
        await checkTurn(thread, {
          expectedTurnId,
          allowed: params.allowInProgressTurn === true,
          store,
        });
        const answer = await thread.sample(
          { prompt, effort, clientMetadata: responsesapiClientMetadata ?? {} },
          signal,
        );
        return sampledResponse(answer, { expectedTurnId, ids, signal });
      },
    },

    'thread/sample/cancel': {
      order: unqueued,
      handle({ requestId }, { caller }) {
        for (const params of caller.openParams(requestId)) {
          const { abort, interrupt } = samplingOf(params);
          interrupt();
          abort.abort();
        }
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The response with the model's answer. Throws if there is none. */
function sampledResponse(
  answer: Awaited<ReturnType<LoadedThread['sample']>>,
  { expectedTurnId, ids, signal }: { expectedTurnId: string; ids: Ids; signal: AbortSignal },
) {
  if (answer === null) throw refused('prompt_too_large', 'the history is too large for a prompt');
  if ('text' in answer) {
    const {
      inputTokens = null,
      cachedInputTokens = null,
      outputTokens = null,
    } = answer.usage ?? {};
    const responseId = answer.responseId ?? ids.next();
    return {
      responseId,
      sourceTurnId: expectedTurnId,
      text: answer.text,
      inputTokens,
      cachedInputTokens,
      outputTokens,
    };
  }
  if (answer.error !== null) {
    const { message, codexErrorInfo } = answer.error;
    throw internal(message, {
      code: 'model_failed',
      codexErrorInfo: codexErrorInfo as JsonValue,
    });
  }
  throw signal.aborted ? cancelled() : refused('thread_closed', 'the thread was closed');
}

function cancelled(): RpcError {
  return refused('sample_cancelled', 'the request was cancelled');
}

/** Throws unless this is the last turn of the thread, and has ended or may still run. */
async function checkTurn(
  thread: LoadedThread,
  {
    expectedTurnId,
    allowed,
    store,
  }: { expectedTurnId: string; allowed: boolean; store: ThreadStore },
): Promise<void> {
  const stored =
    thread.turn === null
      ? await store.listTurns(thread.id, { direction: 'desc', limit: 1, view: 'notLoaded' })
      : null;
  // A turn may have begun while the store was read.
  const { turn } = thread;
  const last = turn?.id ?? stored?.data[0]?.id;
  if (last === undefined) throw refused('turn_not_found', 'the thread has no turn');
  if (last !== expectedTurnId) throw turnMismatch(expectedTurnId, last);
  if (turn !== null && !allowed) throw turnActive(turn.id, 'take a sample');
}
