import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Node, Parser, Tree } from 'web-tree-sitter';

/** Calls `read` with the root of a script's syntax tree, which is gone when it returns. Null: given up, nothing was read. */
export type ReadBash = <T>(script: string, read: (root: Node) => T) => T | null;

/**
 * Some lines cost time and memory by the square of their length; an ordinary one takes a millisecond, and a few of the
 * parser's steps. It is given longer for those few: a machine that has much to do is no reason not to understand it.
 */
const LONG_MS_MAX = 250;
const SHORT_MS_MAX = 1000;
const SHORT_STEPS = 25;

let loading: Promise<Parser> | null = null;

/**
 * A reader for the scripts of one command, all of them together within a quarter of a second, or a second where they are
 * short. The parser is loaded at its first use, once; a load that failed is tried again.
 */
export async function bashParser(): Promise<ReadBash> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  const parser = await loading;
  const start = performance.now();
  let steps = 0;
  const isLate = () => {
    steps += 1;
    return performance.now() - start > (steps > SHORT_STEPS ? LONG_MS_MAX : SHORT_MS_MAX);
  };
  return (script, read) => {
    const tree = parse(parser, script, isLate);
    if (tree === null) return null;
    try {
      return read(tree.rootNode);
    } finally {
      tree.delete();
    }
  };
}

function parse(parser: Parser, script: string, isLate: () => boolean): Tree | null {
  if (isLate()) return null;
  try {
    const tree = parser.parse(script, null, { progressCallback: isLate });
    // What was given up would be gone on with.
    if (tree === null) parser.reset();
    return tree;
  } catch (error) {
    // The parser has aborted, and answers so from now on: nothing is understood any more, and all of it is asked about.
    if (error instanceof Error && error.name === 'RuntimeError') return null;
    throw error;
  }
}

async function load(): Promise<Parser> {
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammarFile()));
  return parser;
}

function grammarFile(): string {
  const manifest = createRequire(import.meta.url).resolve('tree-sitter-bash/package.json');
  return join(dirname(manifest), 'tree-sitter-bash.wasm');
}
