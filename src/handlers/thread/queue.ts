import type { ThreadQueues } from '../../agent/queue/thread-queues.ts';
import type { Threads } from '../../agent/threads/threads.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import { pageByPosition } from '../requested/list-page.ts';
import { type MethodTable, perThread, readsThread } from '../requested/method.ts';

const CLIENT_ID_CHARS_MAX = 256;
const PAGE_LENGTH_DEFAULT = 25;

interface QueueServices {
  queues: ThreadQueues;
  threads: Pick<Threads, 'beginDueTurn'>;
  store: Pick<ThreadStore, 'readQueued'>;
}

export function queueMethods({ queues, threads, store }: QueueServices) {
  return {
    'thread/queue/add': {
      order: perThread,
      async handle(
        { threadId, clientUserMessageId, input, responsesapiClientMetadata },
        { after },
      ) {
        if (clientUserMessageId.length > CLIENT_ID_CHARS_MAX)
          throw invalidParams(
            `params.clientUserMessageId must have at most ${CLIENT_ID_CHARS_MAX} characters`,
          );
        const queuedSubmission = await queues.add(threadId, {
          clientUserMessageId,
          input,
          responsesapiClientMetadata: responsesapiClientMetadata ?? null,
        });
        after(() => threads.beginDueTurn(threadId));
        return { queuedSubmission };
      },
    },

    'thread/queue/list': {
      order: readsThread,
      async handle({ threadId, cursor, limit }) {
        const { ids, heldBecause } = await queues.state(threadId);
        const page = pageByPosition(ids, { cursor, limit: limit ?? PAGE_LENGTH_DEFAULT });
        const data = await store.readQueued(threadId, page.data);
        // The read may end before the page does.
        const end = ids.indexOf(data.at(-1)?.id ?? '') + 1 || null;
        const isWhole = end === null || data.length === page.data.length || end === ids.length;
        return { data, nextCursor: isWhole ? page.nextCursor : String(end), heldBecause };
      },
    },

    'thread/queue/update': {
      order: perThread,
      async handle({ threadId, queuedSubmissionId, input, responsesapiClientMetadata }) {
        return {
          queuedSubmission: await queues.update(threadId, queuedSubmissionId, {
            input,
            responsesapiClientMetadata: responsesapiClientMetadata ?? null,
          }),
        };
      },
    },

    'thread/queue/reorder': {
      order: perThread,
      async handle({ threadId, queuedSubmissionIds }) {
        await queues.reorder(threadId, queuedSubmissionIds);
        return {};
      },
    },

    'thread/queue/delete': {
      order: perThread,
      async handle({ threadId, queuedSubmissionId }) {
        return { deleted: await queues.delete(threadId, queuedSubmissionId) };
      },
    },

    'thread/queue/start': {
      order: perThread,
      beginsTurn: true,
      async handle({ threadId, queuedSubmissionId }, { after, caller }) {
        const { turn, afterAnswer } = await queues.start(threadId, queuedSubmissionId ?? null);
        after(() => {
          afterAnswer();
          caller.flush();
        });
        return { turn };
      },
    },
  } satisfies Partial<MethodTable>;
}
