import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { Once } from '../../base/loading/once.ts';
import { ConfigError, type ConfigLocation } from '../config-error.ts';
import { toTable } from './config-table.ts';

export interface Toml {
  /** Throws a ConfigError with the location and the problem. */
  parse(text: string, file: string): JsonObject;
  /** Returns null if the text is not valid TOML. */
  tryParse(text: string): JsonObject | null;
}

/** The most files whose tables are kept. */
const FILES_KEPT_MAX = 64;

const loading = new Once(importToml);

/** Returns the TOML reader. Loads the parser at first use: a server that only answers `initialize` does not need it. */
export function loadToml(): Promise<Toml> {
  return loading.get();
}

async function importToml(): Promise<Toml> {
  const { parse, TomlError } = await import('smol-toml');
  const read = (text: string, location: ConfigLocation) => toTable(parse(text, { integersAsBigInt: 'asNeeded', maxDepth: 64 }), location);
  const tryParse = (text: string) => {
    try {
      return read(text, { path: null, range: null });
    } catch (error) {
      if (error instanceof TomlError || error instanceof ConfigError) return null;
      throw error;
    }
  };
  /** By file, the text that was parsed last: most files are read many times and do not change. */
  const parsed = new Map<string, { text: string; table: JsonObject }>();
  return {
    parse(text, file) {
      const known = parsed.get(file);
      if (known?.text === text) return known.table;
      try {
        const table = frozen(read(text, { path: file, range: null }));
        if (parsed.size >= FILES_KEPT_MAX) parsed.clear();
        parsed.set(file, { text, table });
        return table;
      } catch (error) {
        if (!(error instanceof TomlError)) throw error;
        const start = { line: error.line, column: error.column };
        throw new ConfigError(problemOf(error.message), { path: file, range: { start, end: start } }, { cause: error });
      }
    },
    tryParse,
  };
}

/** The value, which nobody can change any more. */
function frozen<T extends JsonValue>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** Keeps the first line only: the parser's message continues with lines of the file, which may contain secrets. */
function problemOf(message: string): string {
  const [first = ''] = message.split('\n');
  return `not valid TOML: ${first.replace('Invalid TOML document: ', '')}`;
}
