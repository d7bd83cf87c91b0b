import { setImmediate } from 'node:timers/promises';
import * as fzf from 'fzf';
import type { FuzzyFileSearchResult } from '../../protocol/generated/types.ts';

/** The number of matches that a query returns at most, as many as clients show. */
export const MATCHES_MAX = 50;
/**
 * Paths are ranked in blocks of this size. A newer query takes over after a block, which takes some
 * milliseconds.
 */
const BLOCK_PATHS = 1000;
const LINE_FEED = 0x0a;
/**
 * Matches within the last part of a path come before all others, and a last part that equals the
 * query comes first.
 */
const NAME_BONUS = 0x1_00_00;
const WHOLE_NAME_BONUS = 0x2_00_00;

/**
 * The part of fzf that is used. Its own types are not found where modules are resolved as Node
 * does.
 */
interface Library {
  Fzf: new (entries: Entry[], options: object) => Block;
  /** Terms such as 'exact, ^start, end$ and !not. */
  extendedMatch: unknown;
}

interface Block {
  find(query: string): Found[];
}

interface Found {
  item: Entry;
  score: number;
  /** Indices of UTF-16 units in the path. */
  positions: Set<number>;
}

const { Fzf, extendedMatch } = fzf as unknown as Library;

/** The paths below some roots, and the search for those that match a query. */
export interface PathIndex {
  /**
   * Adds the files of a root: paths that are relative to it, each with a line feed behind it. A
   * path may continue in the next bytes.
   */
  add(root: number, bytes: Uint8Array): void;
  /**
   * Returns the best matches among the paths that were added so far, best first, 50 at most. A
   * later call ends earlier ones, which return null. Rejects if the index is lost.
   */
  rank(query: string): Promise<FuzzyFileSearchResult[] | null>;
  /** Frees the memory. */
  close(): void;
}

interface Entry {
  root: number;
  path: string;
  isFolder: boolean;
}

/** A path index in the memory of this thread. A folder is known by the files in it. */
export class LocalPathIndex implements PathIndex {
  readonly #roots: readonly string[];
  readonly #folders = new Set<string>();
  readonly #unfinished = new Map<number, Buffer>();
  #blocks: Block[] = [];
  #entries: Entry[] = [];
  #calls = 0;

  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  add(root: number, bytes: Uint8Array): void {
    const all = Buffer.concat([this.#unfinished.get(root) ?? Buffer.alloc(0), bytes]);
    const end = all.lastIndexOf(LINE_FEED) + 1;
    this.#unfinished.set(root, all.subarray(end));
    for (const path of all.toString('utf8', 0, end).split('\n'))
      if (path !== '') this.#addFile(root, path);
  }

  async rank(query: string): Promise<FuzzyFileSearchResult[] | null> {
    const call = ++this.#calls;
    let best: FuzzyFileSearchResult[] = [];
    if (query.trim() === '') return best;
    // Blocks may be added meanwhile. They belong to a later call.
    for (const block of [...this.#blocks, blockOf(this.#entries)]) {
      best = [...best, ...this.#matches(block, query)].sort(byRank).slice(0, MATCHES_MAX);
      await setImmediate();
      if (call !== this.#calls) return null;
    }
    return best;
  }

  close(): void {
    this.#calls++;
    this.#blocks = [];
    this.#entries = [];
    this.#folders.clear();
    this.#unfinished.clear();
  }

  #addFile(root: number, path: string): void {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash);
      const key = `${root}:${folder}`;
      if (this.#folders.has(key)) break;
      this.#folders.add(key);
      this.#addEntry({ root, path: folder, isFolder: true });
    }
    this.#addEntry({ root, path, isFolder: false });
  }

  #addEntry(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#entries.length < BLOCK_PATHS) return;
    this.#blocks.push(blockOf(this.#entries));
    this.#entries = [];
  }

  #matches(block: Block, query: string): FuzzyFileSearchResult[] {
    return block
      .find(query)
      .map((match) => toResult(match, query, this.#roots[match.item.root] ?? ''));
  }
}

function blockOf(entries: Entry[]): Block {
  return new Fzf(entries, {
    selector: ({ path }: Entry) => path,
    match: extendedMatch,
    casing: 'case-insensitive',
    sort: false,
  });
}

function toResult(
  { item, score, positions }: Found,
  query: string,
  root: string,
): FuzzyFileSearchResult {
  const { path, isFolder } = item;
  const nameStart = path.lastIndexOf('/') + 1;
  const name = path.slice(nameStart);
  const found = [...positions].sort((a, b) => a - b);
  const inName = found[0] !== undefined && found[0] >= nameStart;
  const isName = name.toLowerCase() === query.trim().toLowerCase();
  return {
    root,
    path,
    match_type: isFolder ? 'directory' : 'file',
    file_name: name,
    score: Math.max(0, Math.round(score)) + (isName ? WHOLE_NAME_BONUS : inName ? NAME_BONUS : 0),
    indices: inCharacters(path, found),
  };
}

/** Turns indices of UTF-16 units into indices of characters, which clients expect. */
function inCharacters(path: string, units: number[]): number[] {
  const pairs = [...path.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map(({ index }) => index);
  return units.map((unit) => unit - pairs.filter((pair) => pair < unit).length);
}

function byRank(a: FuzzyFileSearchResult, b: FuzzyFileSearchResult): number {
  return (
    b.score - a.score ||
    a.path.length - b.path.length ||
    compare(a.path, b.path) ||
    compare(a.root, b.root)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
