/** A setting in a file in git's config format. Section and key are in lower case. */
export interface GitConfigEntry {
  /** Empty for a setting above the first section. */
  section: string;
  /** Null: the section has none. */
  subsection: string | null;
  key: string;
  /** Null: the key stands alone, which means true, or the value is too long to mean anything. */
  value: string | null;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  b: '\b',
  '\\': '\\',
  '"': '"',
};
/** Longer values are ignored. No path or address is longer. */
const VALUE_LENGTH_MAX = 8192;
const KEY_CHARACTER = /[A-Za-z0-9-]/;
const SPACE = /\s/;

/**
 * Returns the settings in a text in git's config format, in their order, and whether all of it was
 * understood. At the first error, the rest is left out, as git itself stops there. Reads characters
 * one by one, in the order and with the rules of git's own parser.
 */
export function gitConfigEntries(text: string): {
  entries: GitConfigEntry[];
  isUnderstood: boolean;
} {
  const reader = new ConfigReader(text.replace(/^\uFEFF/, ''));
  const entries: GitConfigEntry[] = [];
  try {
    reader.read(entries);
    return { entries, isUnderstood: !reader.hasLongValue };
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    return { entries, isUnderstood: false };
  }
}

/** Whether a setting includes another file, always or under a condition. */
export function isInclude({ section, key }: GitConfigEntry): boolean {
  return key === 'path' && (section === 'include' || section === 'includeif');
}

type Section = Pick<GitConfigEntry, 'section' | 'subsection'>;

class ConfigSyntaxError extends Error {}

class ConfigReader {
  hasLongValue = false;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(entries: GitConfigEntry[]): void {
    let inside: Section = { section: '', subsection: null };
    while (this.#at < this.#text.length) {
      const character = this.#next();
      if (SPACE.test(character)) continue;
      if (this.#skipsComment(character)) continue;
      if (character === '[') inside = this.#section();
      else if (!/[A-Za-z]/.test(character)) throw new ConfigSyntaxError();
      else entries.push(this.#setting(character, inside));
    }
  }

  /**
   * The next character. The end of the text counts as the end of a line, and so does a carriage
   * return before one.
   */
  #next(): string {
    const character = this.#text[this.#at] ?? '\n';
    this.#at += 1;
    if (character !== '\r' || this.#text[this.#at] !== '\n') return character;
    this.#at += 1;
    return '\n';
  }

  /** Skips the rest of the line if the character begins a comment. */
  #skipsComment(character: string): boolean {
    if (character !== '#' && character !== ';') return false;
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end + 1;
    return true;
  }

  #section(): Section {
    let name = '';
    for (let character = this.#next(); character !== ']'; character = this.#next()) {
      if (SPACE.test(character)) return { section: name, subsection: this.#subsection(character) };
      if (!KEY_CHARACTER.test(character) && character !== '.') throw new ConfigSyntaxError();
      name += character.toLowerCase();
    }
    // An older form is `[section.subsection]`.
    const dot = name.indexOf('.');
    return dot === -1
      ? { section: name, subsection: null }
      : { section: name.slice(0, dot), subsection: name.slice(dot + 1) };
  }

  /** Reads the quoted name that follows a blank, and the end of the section's head. */
  #subsection(blank: string): string {
    let character = blank;
    while (SPACE.test(character)) {
      if (character === '\n') throw new ConfigSyntaxError();
      character = this.#next();
    }
    if (character !== '"') throw new ConfigSyntaxError();
    let name = '';
    for (character = this.#next(); character !== '"'; character = this.#next()) {
      if (character === '\\') character = this.#next();
      if (character === '\n') throw new ConfigSyntaxError();
      name += character;
    }
    if (this.#next() !== ']') throw new ConfigSyntaxError();
    return name;
  }

  #setting(first: string, { section, subsection }: Section): GitConfigEntry {
    let key = first.toLowerCase();
    let character = this.#next();
    for (; KEY_CHARACTER.test(character); character = this.#next()) key += character.toLowerCase();
    while (character === ' ' || character === '\t') character = this.#next();
    if (character === '\n') return { section, subsection, key, value: null };
    if (character !== '=') throw new ConfigSyntaxError();
    const value = this.#value();
    const isLong = value.length > VALUE_LENGTH_MAX;
    this.hasLongValue ||= isLong;
    return { section, subsection, key, value: isLong ? null : value };
  }

  #value(): string {
    let value = '';
    /** The length without the blanks at the end. */
    let kept = 0;
    let quoted = false;
    for (let character = this.#next(); character !== '\n'; character = this.#next()) {
      if (!quoted && this.#skipsComment(character)) break;
      if (character === '"') quoted = !quoted;
      else value = this.#extended(value, character, quoted);
      if (quoted || !SPACE.test(character)) kept = value.length;
    }
    if (quoted) throw new ConfigSyntaxError();
    return value.slice(0, kept);
  }

  /** Returns the value with the next character. Blanks before the value do not belong to it. */
  #extended(value: string, character: string, quoted: boolean): string {
    if (character === '\\') return value + this.#escaped();
    return value === '' && !quoted && SPACE.test(character) ? value : value + character;
  }

  /** The character after a backslash; none if the line continues. */
  #escaped(): string {
    const character = this.#next();
    if (character === '\n') return '';
    const escaped = ESCAPES[character];
    if (escaped === undefined) throw new ConfigSyntaxError();
    return escaped;
  }
}
