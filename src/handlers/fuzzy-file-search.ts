import type { FileSearches } from '../search/file-searches.ts';
import type { MethodTable } from './requested/method.ts';

/** Requests about one session take effect in the order in which they came. */
const perSession = ({ sessionId }: { sessionId: string }): string => `fuzzyFileSearch:${sessionId}`;

export function fuzzyFileSearchMethods({ fileSearches }: { fileSearches: FileSearches }) {
  return {
    fuzzyFileSearch: {
      queue: null,
      reads: true,
      handle: async ({ query, roots, cancellationToken }, { caller }) => ({
        files: await fileSearches.find(caller.id, {
          query,
          roots,
          token: cancellationToken ?? null,
        }),
      }),
    },

    'fuzzyFileSearch/sessionStart': {
      queue: perSession,
      handle({ sessionId, roots }, { caller, after }) {
        const begin = fileSearches.start(caller.id, sessionId, roots);
        after(begin);
        return {};
      },
    },

    'fuzzyFileSearch/sessionUpdate': {
      queue: perSession,
      handle({ sessionId, query }, { caller, after }) {
        after(fileSearches.update(caller.id, sessionId, query));
        return {};
      },
    },

    'fuzzyFileSearch/sessionStop': {
      queue: perSession,
      handle({ sessionId }, { caller }) {
        fileSearches.stop(caller.id, sessionId);
        return {};
      },
    },
  } satisfies Partial<MethodTable>;
}
