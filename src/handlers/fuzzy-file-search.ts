import type { FileSearches } from '../search/file-searches.ts';
import { inQueue, type MethodTable, unqueued } from './requested/method.ts';

/** Requests about one session take effect in the order in which they came. */
const perSession = ({ sessionId }: { sessionId: string }): string => `fuzzyFileSearch:${sessionId}`;

export function fuzzyFileSearchMethods({ fileSearches }: { fileSearches: FileSearches }) {
  return {
    fuzzyFileSearch: {
      order: unqueued,
      handle: async ({ query, roots, cancellationToken }, { caller }) => ({
        files: await fileSearches.find(caller.id, {
          query,
          roots,
          token: cancellationToken ?? null,
        }),
      }),
    },

    'fuzzyFileSearch/sessionStart': {
      order: inQueue(perSession),
      handle({ sessionId, roots }, { caller, after }) {
        const begin = fileSearches.start(caller.id, sessionId, roots);
        after(begin);
        return {};
      },
    },

    'fuzzyFileSearch/sessionUpdate': {
      order: inQueue(perSession),
      handle({ sessionId, query }, { caller, after }) {
        after(fileSearches.update(caller.id, sessionId, query));
        return {};
      },
    },

    'fuzzyFileSearch/sessionStop': {
      order: inQueue(perSession),
      handle({ sessionId }, { caller }) {
        fileSearches.stop(caller.id, sessionId);
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
