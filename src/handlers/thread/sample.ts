import type { LoadedThread } from '../../agent/loaded-thread.ts';
import { internal, refused, turnActive, turnMismatch } from '../../protocol/rpc-error.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { MethodTable } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

/** A request that waits for the model. */
interface Sampling {
  abort: AbortController;
  /** Interrupts the turn that runs, if the client has asked for that. */
  cancelled(): void;
}

/** Questions to the model of a thread that leave the thread as it is. */
export function sampleMethods({ threads, store, ids }: ThreadDeps) {
  /** By connection and id of the request. */
  const running = new Map<string, Sampling>();
  return {
    // No queue: it waits for the model.
    'thread/sample': {
      queue: null,
      async handle(params, { caller }) {
        const { threadId, expectedTurnId, prompt, effort = null, responsesapiClientMetadata } = params;
        const thread = threads.require(threadId);
        await checkTurn(thread, { expectedTurnId, allowed: params.allowInProgressTurn === true, store });
        const key = `${caller.id} ${caller.requestIdOf(params)}`;
        const abort = new AbortController();
        const cancelled = () => {
          if (params.interruptOnCancel === true && thread.turn?.id === expectedTurnId) thread.interrupt(expectedTurnId)();
        };
        running.set(key, { abort, cancelled });
        try {
          const answer = await thread.sample({ prompt, effort, clientMetadata: responsesapiClientMetadata ?? {} }, abort.signal);
          if (answer === null) throw refused('prompt_too_large', 'the history is too large for a prompt');
          if (!('text' in answer)) {
            throw answer.error === null ? refused('sample_cancelled', 'the request was cancelled') : internal(answer.error.message);
          }
          const { inputTokens = null, cachedInputTokens = null, outputTokens = null } = answer.usage ?? {};
          return { responseId: ids.next(), sourceTurnId: expectedTurnId, text: answer.text, inputTokens, cachedInputTokens, outputTokens };
        } finally {
          running.delete(key);
        }
      },
    },

    'thread/sample/cancel': {
      queue: null,
      handle({ requestId }, { caller }) {
        const sampling = running.get(`${caller.id} ${JSON.stringify(requestId)}`);
        sampling?.cancelled();
        sampling?.abort.abort();
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}

/** Throws unless this is the last turn of the thread, and has ended or may still run. */
async function checkTurn(
  { id, turn }: LoadedThread,
  { expectedTurnId, allowed, store }: { expectedTurnId: string; allowed: boolean; store: ThreadStore },
): Promise<void> {
  const last = turn?.id ?? (await store.listTurns(id, { direction: 'desc', limit: 1, view: 'notLoaded' })).data[0]?.id;
  if (last === undefined) throw refused('turn_not_found', 'the thread has no turn');
  if (last !== expectedTurnId) throw turnMismatch(expectedTurnId, last);
  if (turn !== null && !allowed) throw turnActive(turn.id, 'take a sample');
}
