import type { Log } from '../base/log.ts';
import type { FuzzyFileSearchResult } from '../protocol/generated/types.ts';
import { type ListFilesDeps, listFiles } from './list-files.ts';
import type { PathIndex } from './path-index.ts';

export interface FileSearchDeps extends ListFilesDeps {
  log: Log;
  /** Makes the index of the files below these folders. */
  index: (roots: readonly string[]) => Promise<PathIndex>;
}

/** The files below some folders, as they were when the search began, for any number of queries. */
export class FileSearch {
  /** Resolves when all files are known. Never rejects. */
  readonly listed: Promise<void>;
  readonly #deps: FileSearchDeps;
  readonly #index: Promise<PathIndex>;
  readonly #ending = new AbortController();
  #isListed = false;

  /** `roots`: absolute paths. Those that are no folders have no files. */
  constructor(roots: readonly string[], deps: FileSearchDeps) {
    this.#deps = deps;
    this.#index = deps.index(roots);
    this.listed = this.#list(roots);
  }

  get isListed(): boolean {
    return this.#isListed;
  }

  get hasEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Ranks the files that are known so far. Null: a newer query or the end of the search has ended this one. Never rejects. */
  async rank(query: string): Promise<FuzzyFileSearchResult[] | null> {
    try {
      return await (await this.#index).rank(query);
    } catch (error) {
      if (this.hasEnded) return null;
      this.#deps.log.error({ err: error }, 'a file search failed');
      return [];
    }
  }

  end(): void {
    if (this.hasEnded) return;
    this.#ending.abort();
    this.#index.then((index) => index.close()).catch(() => {});
  }

  async #list(roots: readonly string[]): Promise<void> {
    await Promise.all(roots.map((_folder, root) => this.#listRoot(roots, root)));
    this.#isListed = true;
  }

  async #listRoot(roots: readonly string[], root: number): Promise<void> {
    const { log } = this.#deps;
    const folder = roots[root] ?? '';
    try {
      const index = await this.#index;
      const { signal } = this.#ending;
      const all = await listFiles(this.#deps, { folder, signal, onPaths: (bytes) => index.add(root, bytes) });
      if (!all && !this.hasEnded) log.warn({ folder }, 'the folder has too many files: the search knows only a part of them');
    } catch (error) {
      log.warn({ err: error, folder }, 'the files of a folder cannot be listed');
    }
  }
}
