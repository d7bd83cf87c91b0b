import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Language, Node, Parser, Tree } from 'web-tree-sitter';
import { monotonicMs } from '../../base/clock.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { Once } from '../../base/loading/once.ts';

/**
 * Calls `read` with the root of a script's syntax tree, which is freed afterwards. Returns null if
 * the script is too large, or too much work to parse.
 */
export type ReadBash = <T>(script: string, read: (root: Node) => T) => Promise<T | null>;

/**
 * Work is counted, not timed, so that a script is judged alike on every machine and under any load.
 * The unit is one character that the parser reads, some 25 ns: the parser may read the rest of a
 * script again for each word, which takes quadratic time.
 */
const WORK_MAX = 20_000_000;
/** The most work that is done without a pause, but for the last step. */
const SLICE_WORK = 100_000;
/**
 * The most work of one step, which cannot be interrupted. Ordinary scripts take a fifth, `)))…`
 * takes 15 times as much.
 */
const STEP_WORK_MAX = 100_000;
/** The most work of a step besides the characters. */
const STEP_WORK = 8_000;
/** The most work of reading a node of the tree. */
const NODE_WORK = 200;
/** The parser gets so many characters at once. */
const CHUNK_CHARS = 1024;
/** The last resort, far longer than the work takes. */
const SPENT_MS_MAX = 10_000;
/**
 * The most `|` in a script: the parser handles the end of a pipeline in one step, which takes
 * quadratic time.
 */
const PIPES_MAX = 1000;
/** Larger trees are not read. */
const NODES_MAX = 4000;

/** V8 optimizes only the function of WebAssembly with this index: there is none. */
const OPTIMIZE_NOTHING = '--wasm-tier-up-filter=1000000';
const OPTIMIZE_ALL = '--wasm-tier-up-filter=-1';

const loading = new Once(load);
/** Parsers that are not in use. Each parses one script at a time, which may take several slices. */
const idle: Parser[] = [];

/**
 * Returns a reader for the scripts of one command, which share a limit of work. The reader yields
 * to other work after each slice. The parser is loaded once, at first use. A failed load is tried
 * again.
 */
export function bashReader(): ReadBash {
  const budget = new Budget();
  return async (script, read) => {
    if (script.split('|', PIPES_MAX + 2).length > PIPES_MAX + 1) return null;
    const create = await loading.get();
    const tree = await parse(idle.pop() ?? create(), script, budget);
    if (tree === null) return null;
    try {
      const nodes = unoptimized(() => tree.rootNode.descendantCount);
      if (nodes > NODES_MAX) return null;
      await budget.pause(nodes * NODE_WORK);
      return unoptimized(() => read(tree.rootNode));
    } finally {
      unoptimized(() => tree.delete());
    }
  };
}

/** The work that the scripts of one command have taken. */
class Budget {
  readonly #breaks = new EventLoopYield();
  #work = 0;
  #sliceWork = 0;
  #stepWork = 0;
  #spentMs = 0;

  /** Whether the current script takes too much work: the parser has to give up. */
  get isSpent(): boolean {
    return this.#stepWork > STEP_WORK_MAX || this.#work > WORK_MAX || this.#spentMs > SPENT_MS_MAX;
  }

  /**
   * Parses until the tree is complete or the slice is over, and returns null if it is not complete.
   */
  parse(parser: Parser, script: string): Tree | null {
    const start = monotonicMs();
    let isParsing = true;
    const input = (index: number) => {
      // The nodes of the tree read their texts here, later.
      if (!isParsing) return script.slice(index);
      // A parser whose script ends early comes to its next step, or to its end, soon.
      return this.isSpent ? '' : this.#give(script.slice(index, index + CHUNK_CHARS));
    };
    const progressCallback = () => {
      if (this.isSpent || !this.#hasRoom(this.#stepWork)) return true;
      this.#startStep();
      return false;
    };
    this.#startStep();
    try {
      return unoptimized(() => parser.parse(input, null, { progressCallback }));
    } finally {
      isParsing = false;
      this.#spentMs += monotonicMs() - start;
    }
  }

  /**
   * Yields to other work if the slice has no room for a step, or for this work, which is then
   * counted.
   */
  async pause(work = 0): Promise<void> {
    if (!this.#hasRoom(this.#stepWork + work)) {
      await this.#breaks.yielded();
      this.#sliceWork = 0;
      this.#stepWork = 0;
    }
    this.#add(work);
  }

  /** Whether more work fits into the slice. Steps are mostly as long as the last one. */
  #hasRoom(work: number): boolean {
    return this.#sliceWork + work <= SLICE_WORK;
  }

  #give(chunk: string): string {
    this.#stepWork += chunk.length;
    this.#add(chunk.length);
    return chunk;
  }

  #startStep(): void {
    this.#stepWork = 0;
    this.#add(STEP_WORK);
  }

  #add(work: number): void {
    this.#work += work;
    this.#sliceWork += work;
  }
}

async function parse(parser: Parser, script: string, budget: Budget): Promise<Tree | null> {
  try {
    for (;;) {
      await budget.pause();
      // After a slice that ended early, the parser continues where it stopped.
      const tree = budget.parse(parser, script);
      if (tree === null && !budget.isSpent) continue;
      if (budget.isSpent) unoptimized(() => giveUp(parser, tree));
      idle.push(parser);
      return budget.isSpent ? null : tree;
    }
  } catch (error) {
    // The parser has aborted, and fails from now on: no command is parsed any more, so every
    // command is asked about.
    if (error instanceof Error && error.name === 'RuntimeError') return null;
    throw error;
  }
}

/** Makes the parser forget the script, and frees the tree of what it has read of it. */
function giveUp(parser: Parser, tree: Tree | null): void {
  parser.reset();
  tree?.delete();
}

async function load(): Promise<() => Parser> {
  const { Language, Parser } = await import('web-tree-sitter');
  setFlagsFromString(OPTIMIZE_NOTHING);
  try {
    await Parser.init();
    const language: Language = await Language.load(grammarFile());
    return () => new Parser().setLanguage(language);
  } finally {
    setFlagsFromString(OPTIMIZE_ALL);
  }
}

/**
 * Runs WebAssembly without optimizing it: to optimize the parser takes 500 MB on Node 24. The
 * optimized code takes 40 MB, which makes each start of a process three times slower, because it
 * copies the server's memory map. V8 decides this when it loads a module (Node 20, 22) or while the
 * module runs (Node 24). `--liftoff-only` has no effect on Node 24 once V8 has started.
 */
function unoptimized<T>(work: () => T): T {
  setFlagsFromString(OPTIMIZE_NOTHING);
  try {
    return work();
  } finally {
    setFlagsFromString(OPTIMIZE_ALL);
  }
}

/**
 * The build copies the grammar into dist, so that users of the package do not need the grammar's
 * package and its install script.
 */
function grammarFile(): string {
  const manifest = createRequire(import.meta.url).resolve('heddle/package.json');
  return join(dirname(manifest), 'dist', 'tree-sitter-bash.wasm');
}
