import type { Env } from '../base/env.ts';
import { isObject } from '../base/json-value.ts';
import { knownSecrets } from './known-secrets.ts';
import { namesSecret } from './names-secret.ts';
import { longestFirst } from './redact.ts';
import { HIDDEN, isSecretFlag, KEY_LINES, KEY_SHAPES } from './redact-likely-secrets.ts';

/** A value without its secrets. */
export interface Masked<Value> {
  value: Value;
  /** How many secrets are hidden in it. */
  hidden: number;
  /** How many of them may be more than a key, such as the operand of a command, so that the value cannot be judged without them. */
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
const BEFORE_CHARS = 300;

/**
 * Returns the mask for actions that are judged and for files that are read to judge them. Hides only keys that have the shape of a
 * provider's key, private keys, and exact values of the environment's secret variables. Everything else is shown, whatever its name says:
 * a mask that is guessed by a name can hide what a command does. Paths, hosts, options and programs are never hidden. Logs have a mask of
 * their own (`redactLikelySecrets`).
 */
export function decisionMask(env: Env): DecisionMask {
  const known = longestFirst(knownSecrets(env).filter((value) => !isPlace(value)));
  const forms = longestFirst(known.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]));
  const patterns = forms.length === 0 ? KEY_SHAPES : [...KEY_SHAPES, exactly(forms)];
  return (value) => {
    const counts = { hidden: 0, deciding: 0 };
    const masked = maskedValue(value, { patterns, counts, isValue: true });
    return { value: masked as typeof value, ...counts };
  };
}

interface MaskOptions {
  patterns: readonly RegExp[];
  counts: Counts;
  /** Whether a string that is nothing but a key is a value, and no word of a command. */
  isValue: boolean;
}

function maskedValue(value: unknown, options: MaskOptions): unknown {
  if (typeof value === 'string') return maskedText(value, options);
  if (Array.isArray(value))
    return value.map((part, index) => maskedValue(part, { ...options, isValue: index > 0 && isSecretFlag(value[index - 1]) }));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, maskedValue(part, { ...options, isValue: true })]));
}

function maskedText(text: string, { patterns, counts, isValue }: MaskOptions): string {
  const withoutKeyFiles = text.replace(KEY_LINES, () => {
    counts.hidden++;
    return HIDDEN;
  });
  return patterns.reduce((rest, pattern) => {
    return rest.replace(pattern, (found, ...groups) => {
      const start = groups.find((group) => typeof group === 'number') as number;
      const span = { text: rest, start, end: start + found.length };
      const isUser = isUserOfUrl(span);
      const isWhole = isValue && found.length === rest.length;
      if (!isUser && !isWhole && (isPartOfPlace(span) || isProgram(span))) return found;
      counts.hidden++;
      if (!isUser && !isWhole && !isNamedValue(span)) counts.deciding++;
      return HIDDEN;
    });
  }, withoutKeyFiles);
}

/** Whether the value of a variable is a path, a host, a URL or an option. Keys can contain slashes, too. */
function isPlace(value: string): boolean {
  if (/^[~./-]|:\/\//.test(value)) return true;
  if (/^(?:[a-z\d-]{1,63}\.){1,9}[a-z]{2,24}(?::\d+)?$|^\d+(?:\.\d+){3}(?::\d+)?$/.test(value)) return true;
  const isKey = value.length >= 20 && /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value) && !value.includes('.');
  return value.includes('/') && !isKey;
}

/** Whether the text continues as a path, a host, an option or a longer word. */
function isPartOfPlace({ text, start, end }: Span): boolean {
  const after = text.slice(end, end + 2);
  return /[\w/\\~.@-]/.test(text.charAt(start - 1)) || /^(?:[\w/@-]|\\(?!["'nrt])|\.\w|:[^\s"'\\])/.test(after);
}

/** Whether a shell would run this word. */
function isProgram({ text, start }: Span): boolean {
  return /(?:^|[;|&(`])[ \t]{0,20}$/.test(text.slice(Math.max(0, start - BEFORE_CHARS), start));
}

/** Whether this is the user or the password in a URL. */
function isUserOfUrl({ text, start, end }: Span): boolean {
  return (
    /:\/\/(?:[^\s/?#@]{0,200}:)?$/.test(text.slice(Math.max(0, start - BEFORE_CHARS), start)) &&
    /^(?::[^\s/?#@]{0,200})?@/.test(text.slice(end, end + 202))
  );
}

/** `name=`, `--name `, a member of JSON, a header, or a parameter of a URL, just before a value. */
const NAME_BEFORE =
  /(?<![\w.-])(?<assigned>[A-Za-z_][\w.-]{0,99})=["']?$|(?<![\w.-])--?(?<flag>[a-z][\w-]{0,99})[ \t]{1,8}["']?$|(?<name>[\w.-]{1,100})\\?["']?\s{0,4}:\s{0,8}\\?["']?$/i;
const CREDENTIAL_BEFORE = /:\s{0,8}(?:Bearer|Basic|token)[ \t]{1,8}$/i;
const PARAMETER_BEFORE = /[?&][\w.-]{1,100}=$/;

/** Whether this is the value of something that is named as a secret. The value of a variable that the text uses later may be anything. */
function isNamedValue(span: Span): boolean {
  const before = span.text.slice(Math.max(0, span.start - BEFORE_CHARS), span.start);
  if (CREDENTIAL_BEFORE.test(before) || PARAMETER_BEFORE.test(before)) return true;
  const { assigned, flag, name } = NAME_BEFORE.exec(before)?.groups ?? {};
  if (assigned !== undefined && isUsed(span.text, assigned)) return false;
  return [assigned, flag, name].some((one) => one !== undefined && namesSecret(one));
}

function isUsed(text: string, variable: string): boolean {
  return text.includes(`$${variable}`) || text.includes(`\${${variable}`) || text.includes(`\${!`);
}

/** Matches these secrets as whole words. */
function exactly(secrets: readonly string[]): RegExp {
  return new RegExp(`(?<!\\w)(?:${secrets.map((secret) => secret.replace(/[\\^$.|?*+()[\]{}/-]/g, '\\$&')).join('|')})(?!\\w)`, 'g');
}
