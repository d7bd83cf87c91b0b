import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { suggestKey } from '../../base/text/suggest-key.ts';
import { emptyTable, isTable } from '../toml/config-table.ts';

/** The most seconds that a timer can wait. */
const SECONDS_MAX = Math.floor((2 ** 31 - 1) / 1000);

/**
 * The fields of one table in a definition of hooks. Adds a problem for each that is not valid; the
 * value is then undefined. `advice`: gets the keys that have no effect.
 */
export class HookFields {
  readonly isTable: boolean;
  readonly #table: JsonObject;
  readonly #where: string;
  readonly #problems: string[];
  readonly #advice: string[];

  constructor(
    value: JsonValue,
    where: string,
    { problems, advice }: { problems: string[]; advice: string[] },
  ) {
    this.isTable = isTable(value);
    this.#table = isTable(value) ? value : emptyTable();
    this.#where = where;
    this.#problems = problems;
    this.#advice = advice;
    if (!this.isTable) this.#add('expected a table');
  }

  raw(key: string): JsonValue | undefined {
    return Object.hasOwn(this.#table, key) ? this.#table[key] : undefined;
  }

  /** Null: it is absent. */
  text(key: string): string | null | undefined {
    const value = this.raw(key) ?? null;
    return value === null || typeof value === 'string' ? value : this.#bad(key, 'a string');
  }

  /** Null: it is absent, blank or not valid. */
  requiredText(key: string): string | null {
    const value = this.raw(key);
    if (typeof value === 'string' && value.trim() !== '') return value;
    this.#bad(key, 'a non-empty string');
    return null;
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key) ?? false;
    return typeof value === 'boolean' ? value : this.#bad(key, 'true or false');
  }

  /** Null: it is absent. */
  wholeNumber(key: string): number | null | undefined {
    const value = this.raw(key) ?? null;
    if (value === null) return null;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0)
      return Math.min(value, SECONDS_MAX);
    return this.#bad(key, 'a whole number, 0 or more');
  }

  /** Empty if it is absent. */
  table(key: string): JsonObject | undefined {
    const value = this.raw(key) ?? emptyTable();
    return isTable(value) ? value : this.#bad(key, 'a table');
  }

  /** Null: it is absent or not valid. */
  list(key: string): JsonValue[] | null {
    const value = this.raw(key);
    if (Array.isArray(value)) return value;
    if (this.isTable) this.#bad(key, 'a list');
    return null;
  }

  /** Adds advice for each other key. */
  endWith(known: readonly string[]): void {
    for (const key of Object.keys(this.#table)) {
      if (known.includes(key)) continue;
      const suggested = suggestKey(key, known);
      const help = suggested === null ? '' : `. Did you mean ${suggested}?`;
      this.#advice.push(
        `${this.#where}: ${JSON.stringify(key)} is ignored, because it is not a known key${help}`,
      );
    }
  }

  #bad(key: string, expected: string): undefined {
    this.#add(`${key}: expected ${expected}, so this hook is not used`);
    return undefined;
  }

  #add(problem: string): void {
    this.#problems.push(`${this.#where}: ${problem}`);
  }
}
