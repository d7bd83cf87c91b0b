import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Language, Node, Parser, Tree } from 'web-tree-sitter';

/** Calls `read` with the root of a script's syntax tree, which is gone when it returns. Null: given up, nothing was read. */
export type ReadBash = <T>(script: string, read: (root: Node) => T) => Promise<T | null>;

/**
 * Some lines cost time and memory by the square of their length; an ordinary one takes a millisecond, and a few of the
 * parser's steps. It is given longer for those few: a machine that has much to do is no reason not to understand it.
 */
const LONG_MS_MAX = 250;
const SHORT_MS_MAX = 1000;
const SHORT_STEPS = 25;
/** How long the server does nothing else. */
const SLICE_MS = 10;
/** How many `|` a script may hold: the end of a longer pipeline is parsed in one step, by the square of its length. */
const PIPES_MAX = 1000;
/** A tree of more is not walked through. */
const NODES_MAX = 4000;

let loading: Promise<() => Parser> | null = null;
/** Each is used by one script at a time, which may take several slices. */
const idle: Parser[] = [];

/**
 * A reader for the scripts of one command, all of them together within a quarter of a second, or a second where they are
 * short, and never more than a part of that without letting others run. The parser is loaded at its first use, once; a load
 * that failed is tried again.
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
      return tree.rootNode.descendantCount > NODES_MAX ? null : budget.spend(() => read(tree.rootNode));
    } finally {
      tree.delete();
    }
  };
}

/** What the scripts of one command have cost. */
class Budget {
  #steps = 0;
  #spentMs = 0;
  #sliceMs = 0;

  /** What is done in a slice, on which it may ask whether to go on. */
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

  /** Lets others run where a slice is over. */
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
      // What was given up is gone on with.
      const tree = budget.isSpent ? null : budget.spend((isOver) => parser.parse(script, null, { progressCallback: isOver }));
      if (tree === null && !budget.isSpent) continue;
      if (tree === null) parser.reset();
      idle.push(parser);
      return tree;
    }
  } catch (error) {
    // The parser has aborted, and answers so from now on: nothing is understood any more, and all of it is asked about.
    if (error instanceof Error && error.name === 'RuntimeError') return null;
    throw error;
  }
}

/**
 * The parser's code is compiled the quick way alone: what the optimizing compiler makes of it takes 40 MB, and each start of a
 * process, which copies the server's memory map, then takes three times as long.
 */
async function load(): Promise<() => Parser> {
  const { Language, Parser } = await import('web-tree-sitter');
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--liftoff-only');
  try {
    await Parser.init();
    const language: Language = await Language.load(grammarFile());
    return () => new Parser().setLanguage(language);
  } finally {
    setFlagsFromString('--no-liftoff-only');
  }
}

function grammarFile(): string {
  const manifest = createRequire(import.meta.url).resolve('tree-sitter-bash/package.json');
  return join(dirname(manifest), 'tree-sitter-bash.wasm');
}
