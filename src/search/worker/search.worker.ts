// The script of the worker that ranks paths.
import { serveWorker } from '../../base/worker/serve-worker.ts';
import type { FuzzyFileSearchResult } from '../../protocol/generated/types.ts';
import { LocalPathIndex } from './path-index.ts';

/** Path indexes, by numbers that the caller chooses. */
export interface ServedIndexes {
  open(index: number, roots: readonly string[]): void;
  add(index: number, root: number, bytes: Uint8Array): void;
  /** See `PathIndex`. Null also if the index is closed. */
  rank(index: number, query: string): Promise<FuzzyFileSearchResult[] | null>;
  close(index: number): void;
}

serveWorker(() => {
  const indexes = new Map<number, LocalPathIndex>();
  return {
    open: (index, roots) => void indexes.set(index, new LocalPathIndex(roots)),
    add: (index, root, bytes) => indexes.get(index)?.add(root, bytes),
    rank: async (index, query) => (await indexes.get(index)?.rank(query)) ?? null,
    close(index) {
      indexes.get(index)?.close();
      indexes.delete(index);
    },
  } satisfies ServedIndexes;
});
