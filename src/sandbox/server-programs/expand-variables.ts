import type { Env } from '../../base/env.ts';

/** Values with other characters could change how a line is divided into words. */
const PLAIN = /^[\w./:@%+,~-]*$/;
/** A value that a shell puts together, whose text may stand in the place of its variable. */
const SUBSTITUTION = /^\$\([^()"'`]*\)[\w./:@%+,~-]*$/;
const VARIABLE = /\$(?:(\w+)|\{(\w+)(?::?-([^}]*))?\})/g;

/** Text that sets a variable of the shell: its value, or none if only the shell knows it. */
const SET =
  /(?<![^\s;&|({])(\w+)(?:=(?:"([^"]*)"|'([^']*)'|((?:\$\([^()"'`]*\))?[^\s;&|()"'`]*))(?=[\s;&|)]|$)|\+?=)/g;
/** A name after `for` or `select`, and those after `read`, get values that only the shell knows. */
const SET_LATER = /(?<![\w-])(?:(?:for|select)[ \t]+(\w+)|read((?:[ \t]+-?\w+)+))/g;

/**
 * Replaces variables of a known plain value, or without a value but with a default, and `~` for the
 * home folder, in a line for a shell. Others stay as they are. What the line sets counts in all of
 * it, but only if it sets a variable once. It replaces no other PATH than that of the environment.
 */
export function expandVariables(line: string, env: Env): string {
  const own = ownVariables(line);
  const outer = Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
  // What only the shell knows has no default either.
  const known = [...own].map(
    ([name, value]) => [name, value === null ? `$${name}` : replaced(value, outer)] as const,
  );
  return replaced(line, { ...outer, ...Object.fromEntries(known) });
}

/** The variables that a line sets. Null: to several values, or to one that only the shell knows. */
function ownVariables(line: string): Map<string, string | null> {
  const own = new Map<string, string | null>();
  for (const [, name = '', double, single, plain] of line.matchAll(SET))
    if (name !== 'PATH') own.set(name, own.has(name) ? null : (double ?? single ?? plain ?? null));
  for (const [, one, names = one ?? ''] of line.matchAll(SET_LATER))
    for (const name of names.match(/\w+/g) ?? []) own.set(name, null);
  return own;
}

function replaced(line: string, env: Env): string {
  const { HOME: home } = env;
  const expanded = line.replace(
    VARIABLE,
    (whole, short?: string, long?: string, otherwise?: string) => {
      const value = env[short ?? long ?? ''] ?? otherwise;
      return value !== undefined && (PLAIN.test(value) || SUBSTITUTION.test(value)) ? value : whole;
    },
  );
  return home === undefined || !PLAIN.test(home)
    ? expanded
    : expanded.replace(/(^|[\s;&|("'=:])~(?=\/)/g, (_, before: string) => `${before}${home}`);
}
