import type { Log } from '../base/log.ts';
import { statOf } from '../base/paths/stat-of.ts';
import { Semaphore } from '../base/semaphore.ts';
import type { FuzzyFileSearchResult } from '../protocol/generated/types.ts';
import { type ListFilesServices, listFiles } from './list-files.ts';
import type { PathIndex } from './worker/path-index.ts';

/**
 * A search knows so many bytes of paths, about half a million: nobody searches the whole disk with
 * a few letters.
 */
const PATHS_BYTES_MAX = 32 * 1024 * 1024;
/** The folders that are listed at a time. */
const LISTINGS_MAX = 4;

export interface FileSearchOptions extends ListFilesServices {
  log: Log;
  /** The absolute path of ripgrep. */
  program: string;
  /** Makes the index of the files below these folders. */
  index: (roots: readonly string[]) => Promise<PathIndex>;
  /**
   * Called when the files below a folder are listed. `missing`: why only a part of them is known;
   * null: all are.
   */
  onListed: (folder: string, missing: string | null) => void;
}

/** The files below some folders, as they were when the search began, for any number of queries. */
export class FileSearch {
  /** Resolves when all files are known. Never rejects. */
  readonly listed: Promise<void>;
  readonly #deps: FileSearchOptions;
  readonly #index: Promise<PathIndex>;
  readonly #ending = new AbortController();
  readonly #places = new Semaphore(LISTINGS_MAX);
  #bytesLeft = PATHS_BYTES_MAX;
  #isListed = false;

  /** `roots`: absolute paths. Those that are no folders have no files. */
  constructor(roots: readonly string[], deps: FileSearchOptions) {
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

  /**
   * Ranks the files that are known so far. Null: a newer query or the end of the search has ended
   * this one. Rejects if the index is lost: then the search is of no more use.
   */
  async rank(query: string): Promise<FuzzyFileSearchResult[] | null> {
    try {
      return await (await this.#index).rank(query);
    } catch (error) {
      if (this.hasEnded) return null;
      throw error;
    }
  }

  end(): void {
    if (this.hasEnded) return;
    this.#ending.abort();
    this.#index.then((index) => index.close()).catch(() => {});
  }

  async #list(roots: readonly string[]): Promise<void> {
    await Promise.all(roots.map((folder, root) => this.#listRoot(folder, root)));
    this.#isListed = true;
  }

  async #listRoot(folder: string, root: number): Promise<void> {
    const { signal } = this.#ending;
    if (!(await this.#places.take(signal))) return;
    try {
      const index = await this.#index;
      const onPaths = (bytes: Buffer) => {
        const taken = bytes.subarray(0, this.#bytesLeft);
        this.#bytesLeft -= taken.length;
        index.add(root, taken);
        return this.#bytesLeft > 0;
      };
      const missing = await listFiles(this.#deps, {
        program: this.#deps.program,
        folder,
        onPaths,
        signal,
      });
      if (!this.hasEnded) this.#deps.onListed(folder, missing);
    } catch (error) {
      this.#deps.log.warn({ err: error, folder }, 'the files of a folder cannot be listed');
      // Where there is no folder, there are no files.
      if (!this.hasEnded && statOf(folder) !== null)
        this.#deps.onListed(folder, error instanceof Error ? error.message : String(error));
    } finally {
      this.#places.release();
    }
  }
}
