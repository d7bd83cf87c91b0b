import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { Once } from '../../base/loading/once.ts';
import { ConfigError } from './config-error.ts';
import { toFrozenTable } from './config-table.ts';

export interface Toml {
  /**
   * Resolves with the tables of a file, which nobody can change. Rejects with a ConfigError with
   * the location and the problem. Lets other work run before and after a long text is parsed.
   */
  parse(text: string, place: { file: string; breaks: EventLoopYield }): Promise<JsonObject>;
  /** Returns null if the text is not valid TOML. */
  tryParse(text: string): JsonObject | null;
}

/** The most files whose tables are kept. */
const FILES_KEPT_MAX = 64;
/** So many characters count as one unit of work. */
const CHARS_A_UNIT = 10;

const loading = new Once(importToml);

/**
 * Returns the TOML reader. Loads the parser at first use: a server that only answers `initialize`
 * does not need it.
 */
export function loadToml(): Promise<Toml> {
  return loading.get();
}

async function importToml(): Promise<Toml> {
  return tomlOf(await import('smol-toml'));
}

/**
 * The exports of the parser that are used here. The package's declarations must not need those of
 * another package.
 */
interface TomlParser {
  parse(text: string, options: { integersAsBigInt: 'asNeeded'; maxDepth: number }): object;
  TomlError: new (...args: never[]) => Error & { line: number; column: number };
}

/** The TOML reader of a loaded parser. */
export function tomlOf({ parse, TomlError }: TomlParser): Toml {
  const tree = (text: string) => parse(text, { integersAsBigInt: 'asNeeded', maxDepth: 64 });
  const tryParse = (text: string) => {
    try {
      return toFrozenTable(tree(text), { path: null, range: null });
    } catch (error) {
      if (error instanceof TomlError || error instanceof ConfigError) return null;
      throw error;
    }
  };
  /** By file, the text that was parsed last: most files are read many times and do not change. */
  const parsed = new Map<string, { text: string; table: JsonObject }>();
  return {
    async parse(text, { file, breaks }) {
      const known = parsed.get(file);
      if (known?.text === text) return known.table;
      try {
        await breaks.worked(text.length / CHARS_A_UNIT);
        const found = tree(text);
        await breaks.worked(text.length / CHARS_A_UNIT);
        const table = toFrozenTable(found, { path: file, range: null });
        if (parsed.size >= FILES_KEPT_MAX) parsed.clear();
        parsed.set(file, { text, table });
        return table;
      } catch (error) {
        if (!(error instanceof TomlError)) throw error;
        const start = { line: error.line, column: error.column };
        throw new ConfigError(
          problemOf(error.message),
          { path: file, range: { start, end: start } },
          { cause: error },
        );
      }
    },
    tryParse,
  };
}

/**
 * Keeps the first line only: the parser's message continues with lines of the file, which may
 * contain secrets.
 */
function problemOf(message: string): string {
  const [first = ''] = message.split('\n');
  return `not valid TOML: ${first.replace('Invalid TOML document: ', '')}`;
}
