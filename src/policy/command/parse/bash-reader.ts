import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { Language, Node, Parser, Tree } from 'web-tree-sitter';

/**
 * Calls `read` with the root of a script's syntax tree, which is freed afterwards. Returns null if the script is too large or
 * takes too long to parse.
 */
export type ReadBash = <T>(script: string, read: (root: Node) => T) => Promise<T | null>;

/**
 * For some lines, parsing takes quadratic time and memory. An ordinary line takes a millisecond and a few parser steps. The
 * first few steps get a longer limit, so that ordinary lines are parsed on a busy machine too.
 */
const LONG_MS_MAX = 250;
const SHORT_MS_MAX = 1000;
const SHORT_STEPS = 25;
/** The longest time that parsing blocks the server. */
const SLICE_MS = 10;
/** The most `|` in a script: the parser handles the end of a pipeline in one step, which takes quadratic time. */
const PIPES_MAX = 1000;
/** Larger trees are not read. */
const NODES_MAX = 4000;

/** V8 optimizes only the function of WebAssembly with this index: there is none. */
const OPTIMIZE_NOTHING = '--wasm-tier-up-filter=1000000';
const OPTIMIZE_ALL = '--wasm-tier-up-filter=-1';

let loading: Promise<() => Parser> | null = null;
/** Parsers that are not in use. Each parses one script at a time, which may take several slices. */
const idle: Parser[] = [];

/**
 * Returns a reader for the scripts of one command. Together they may take 250 ms, or one second if they are short. The reader
 * yields to other work after each slice. The parser is loaded once, at first use. A failed load is tried again.
 */
export function bashReader(): ReadBash {
  const budget = new Budget();
  return async (script, read) => {
    if (script.split('|', PIPES_MAX + 2).length > PIPES_MAX + 1) return null;
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    const create = await loading;
    const tree = await parse(idle.pop() ?? create(), script, budget);
    if (tree === null) return null;
    try {
      return unoptimized(() => (tree.rootNode.descendantCount > NODES_MAX ? null : budget.spend(() => read(tree.rootNode))));
    } finally {
      unoptimized(() => tree.delete());
    }
  };
}

/** The time that the scripts of one command have taken. */
class Budget {
  #steps = 0;
  #spentMs = 0;
  #sliceMs = 0;

  /** Runs work and counts its time. The work calls `isOver` to learn whether its slice is over. */
  spend<T>(work: (isOver: () => boolean) => T): T {
    const start = performance.now();
    const spent = () => performance.now() - start;
    const isOver = () => {
      this.#steps += 1;
      return this.#sliceMs + spent() > SLICE_MS;
    };
    try {
      return work(isOver);
    } finally {
      this.#spentMs += spent();
      this.#sliceMs += spent();
    }
  }

  get isSpent(): boolean {
    return this.#spentMs > (this.#steps > SHORT_STEPS ? LONG_MS_MAX : SHORT_MS_MAX);
  }

  /** Yields to other work if the slice is over. */
  async pause(): Promise<void> {
    if (this.#sliceMs <= SLICE_MS) return;
    await setImmediate();
    this.#sliceMs = 0;
  }
}

async function parse(parser: Parser, script: string, budget: Budget): Promise<Tree | null> {
  try {
    for (;;) {
      await budget.pause();
      // After a slice that ended early, the parser continues where it stopped.
      const tree = budget.isSpent
        ? null
        : budget.spend((isOver) => unoptimized(() => parser.parse(script, null, { progressCallback: isOver })));
      if (tree === null && !budget.isSpent) continue;
      if (tree === null) parser.reset();
      idle.push(parser);
      return tree;
    }
  } catch (error) {
    // The parser has aborted, and fails from now on: no command is parsed any more, so every command is asked about.
    if (error instanceof Error && error.name === 'RuntimeError') return null;
    throw error;
  }
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
 * Runs WebAssembly without optimizing it: to optimize the parser takes 500 MB on Node 24. The optimized code takes 40 MB, which makes
 * each start of a process three times slower, because it copies the server's memory map. V8 decides this when it loads a module
 * (Node 20, 22) or while the module runs (Node 24). `--liftoff-only` has no effect on Node 24 once V8 has started.
 */
function unoptimized<T>(work: () => T): T {
  setFlagsFromString(OPTIMIZE_NOTHING);
  try {
    return work();
  } finally {
    setFlagsFromString(OPTIMIZE_ALL);
  }
}

/** The build copies the grammar into dist, so that users of the package do not need the grammar's package and its install script. */
function grammarFile(): string {
  const manifest = createRequire(import.meta.url).resolve('heddle/package.json');
  return join(dirname(manifest), 'dist', 'tree-sitter-bash.wasm');
}
