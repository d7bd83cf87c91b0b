import type { Env } from '../base/env.ts';
import { mapStrings } from '../base/json-value.ts';
import { knownSecrets } from './known-secrets.ts';
import { namesKey } from './names-secret.ts';
import { longestFirst } from './redact.ts';
import { HIDDEN, KEY_LINES, KEY_SHAPES } from './redact-likely-secrets.ts';

/** A value without its secrets. */
export interface Masked<Value> {
  value: Value;
  /** How many secrets are hidden in it. */
  hidden: number;
  /**
   * How many of them may be more than a key, such as the operand of a command, so that the value
   * cannot be judged without them.
   */
  deciding: number;
}

/** Hides the secrets of a JSON value or a text for a reader who judges what it does. */
export type DecisionMask = <Value>(value: Value) => Masked<Value>;

interface Counts {
  hidden: number;
  deciding: number;
}

/** A place in a text. */
interface Span {
  text: string;
  start: number;
  end: number;
}

/** Enough of the text before a secret to find the name that it is the value of. */
const BEFORE_CHARS = 600;

/**
 * Returns the mask for actions that are judged and for texts that are read to judge them. Hides
 * only keys that have the shape of a provider's key, private keys, and exact values of the
 * environment's secret variables. Everything else is shown, whatever its name says: a mask that is
 * guessed by a name can hide what a command does. Paths, hosts, options and programs are never
 * hidden. A hidden secret counts as deciding unless the syntax around it makes it a key that is
 * sent or stored, and nothing else. Logs have a mask of their own (`redactLikelySecrets`).
 */
export function decisionMask(env: Env): DecisionMask {
  const known = longestFirst(knownSecrets(env).filter((value) => !isPlace(value)));
  const forms = longestFirst(
    known.flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      percentEncoded(secret),
    ]),
  );
  const patterns = [KEY_LINES, ...KEY_SHAPES, ...(forms.length === 0 ? [] : [exactly(forms)])];
  return (value) => {
    const counts = { hidden: 0, deciding: 0 };
    const masked = mapStrings(
      value,
      (text, member) => maskedText(text, { patterns, counts, member }),
      { mapKey: (key) => maskedText(key, { patterns, counts, member: null }) },
    );
    return { value: masked, ...counts };
  };
}

interface MaskOptions {
  patterns: readonly RegExp[];
  counts: Counts;
  /** The name of the member that the string is the value of; null: it is none. */
  member: string | null;
}

function maskedText(text: string, { patterns, counts, member }: MaskOptions): string {
  const used = usedNames(text);
  return patterns.reduce((rest, pattern) => {
    return rest.replace(pattern, (found, ...groups) => {
      const start = groups.find((group) => typeof group === 'number') as number;
      const span = { text: rest, start, end: start + found.length };
      const isWhole = found.length === rest.trim().length;
      const isKey = isUserOfUrl(span) || (isWhole && member !== null && namesKey(member));
      if (!isKey && !isWhole && pattern !== KEY_LINES && (isPartOfPlace(span) || isProgram(span)))
        return found;
      counts.hidden++;
      if (!isKey && !isNamedKey(span, used)) counts.deciding++;
      return HIDDEN;
    });
  }, text);
}

/**
 * Whether the value of a variable is a path, a host, a URL or an option. Keys can contain slashes,
 * too.
 */
function isPlace(value: string): boolean {
  if (/^[~./-]|:\/\//.test(value)) return true;
  if (
    /^(?:[a-z\d-]{1,63}\.){1,9}[a-z]{2,24}(?::\d+)?$|^\d+(?:\.\d+){3}(?::\d+)?$|^[a-z][a-z\d-]{0,62}:\d{1,5}$/i.test(
      value,
    )
  )
    return true;
  const isKey =
    value.length >= 20 &&
    /\d/.test(value) &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value) &&
    !value.includes('.');
  return value.includes('/') && !isKey;
}

/** Whether the text continues as a path, a host, an option or a longer word. */
function isPartOfPlace({ text, start, end }: Span): boolean {
  const after = text.slice(end, end + 2);
  return (
    /[\w/\\~.@-]/.test(text.charAt(start - 1)) ||
    /^(?:[\w/@-]|\\(?!["'nrt])|\.\w|:[^\s"'\\])/.test(after)
  );
}

/** Whether a shell would run this word. A line with nothing else may as well be a key in a file. */
function isProgram({ text, start, end }: Span): boolean {
  if (/^[ \t]{0,20}(?:[\r\n]|$)/.test(text.slice(end, end + 21))) return false;
  return /(?:^|[;|&(`])[ \t]{0,20}$/.test(text.slice(Math.max(0, start - BEFORE_CHARS), start));
}

/** Whether this is the user or the password in a URL. */
function isUserOfUrl({ text, start, end }: Span): boolean {
  return (
    /:\/\/(?:[^\s/?#@]{0,200}:)?$/.test(text.slice(Math.max(0, start - BEFORE_CHARS), start)) &&
    /^(?::[^\s/?#@]{0,200})?@/.test(text.slice(end, end + 202))
  );
}

/** `name=`, `--name=`, or a parameter of a URL, just before a value. */
const ASSIGNED_BEFORE = /(?<![\w.-])-{0,2}(?<name>[A-Za-z_][\w.-]{0,99})=["']?$/;
/** A header, just before a value, and a command that sends it. */
const HEADER_BEFORE =
  /[ \t](?:-H|--header)[ \t=]?\\?["'](?<name>[\w-]{1,100}):[ \t]{0,4}(?<scheme>(?:Bearer|Basic|token)[ \t]{1,4})?$/i;
const SENDS_HEADERS = /(?:^|[\s(])(?:curl|wget)(?:[ \t][^;|&\n]*)?$/;
/**
 * The text reads variables by names that it puts together, or all of them, or runs what it has put
 * together.
 */
const INDIRECT =
  /\$\{!|\b(?:printenv|environ|compgen|declare|typeset|eval|source|xargs)\b|\b(?:env|set|export(?: -p)?)[ \t]{0,20}(?:[|;&>)\n]|$)/;

/**
 * Whether the syntax makes this a key, and nothing else: the value of something that is named as
 * one and that the text names nowhere else, or of a header.
 */
function isNamedKey({ text, start, end }: Span, isUsed: (name: string) => boolean): boolean {
  const before = text.slice(Math.max(0, start - BEFORE_CHARS), start);
  const header = HEADER_BEFORE.exec(before);
  if (header !== null) {
    const { name = '', scheme } = header.groups ?? {};
    const isSent =
      SENDS_HEADERS.test(before.slice(0, header.index)) &&
      /^\\?["']/.test(text.slice(end, end + 2));
    return isSent && (namesKey(name) || (scheme !== undefined && /authorization$/i.test(name)));
  }
  const name = ASSIGNED_BEFORE.exec(before)?.groups?.name;
  return name !== undefined && namesKey(name) && !isUsed(name);
}

/** Tells whether the text may use the variable of a name that it sets. */
function usedNames(text: string): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const isUsed = known.get(name) ?? (text.split(name, 3).length > 2 || INDIRECT.test(text));
    known.set(name, isUsed);
    return isUsed;
  };
}

function percentEncoded(secret: string): string {
  return /\p{Surrogate}/u.test(secret) ? secret : encodeURIComponent(secret);
}

/** Matches these secrets as whole words. */
function exactly(secrets: readonly string[]): RegExp {
  return new RegExp(
    `(?<!\\w)(?:${secrets.map((secret) => secret.replace(/[\\^$.|?*+()[\]{}/-]/g, '\\$&')).join('|')})(?!\\w)`,
    'g',
  );
}
