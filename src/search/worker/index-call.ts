import type { FuzzyFileSearchResult } from '../../protocol/generated/types.ts';

/**
 * A message to the thread of the indexes. `index` is the number of the index, which the caller
 * chooses.
 */
export type IndexCall =
  | { type: 'open'; index: number; roots: readonly string[] }
  | { type: 'add'; index: number; root: number; bytes: Uint8Array }
  | { type: 'rank'; index: number; id: number; query: string }
  | { type: 'close'; index: number };

/** The answer to a `rank` call. */
export interface IndexReply {
  id: number;
  /** Null: a later query has ended this one. */
  matches: FuzzyFileSearchResult[] | null;
}
