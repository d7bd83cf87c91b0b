import { isObject } from '../base/json-value.ts';

/** An unchecked object of a file. A field that is missing or has another type reads as absent. */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    this.#values = isObject(value) ? value : {};
  }

  raw(key: string): unknown {
    return this.#values[key];
  }

  /** The names of all fields. */
  keys(): string[] {
    return Object.keys(this.#values);
  }

  text(key: string): string | null {
    const value = this.#values[key];
    return typeof value === 'string' ? value : null;
  }

  /** Returns the string if it is one of these, else null. */
  oneOf<const Text extends string>(key: string, texts: readonly Text[]): Text | null {
    return texts.find((text) => text === this.#values[key]) ?? null;
  }

  number(key: string): number | null {
    const value = this.#values[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : null;
  }

  flag(key: string): boolean | null {
    const value = this.#values[key];
    return typeof value === 'boolean' ? value : null;
  }

  object(key: string): Fields {
    return new Fields(this.#values[key]);
  }

  has(key: string): boolean {
    return this.#values[key] !== undefined && this.#values[key] !== null;
  }

  list(key: string): unknown[] {
    const value = this.#values[key];
    return Array.isArray(value) ? value : [];
  }

  objects(key: string): Fields[] {
    return this.list(key).map((value) => new Fields(value));
  }

  texts(key: string): string[] {
    return this.list(key).filter((value) => typeof value === 'string');
  }
}

/** Converts `in_progress` and `InProgress` to the protocol's form, `inProgress`. */
export function camelCase(word: string): string {
  return (
    word.charAt(0).toLowerCase() +
    word.slice(1).replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
  );
}
