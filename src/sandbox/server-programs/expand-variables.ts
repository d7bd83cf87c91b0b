import type { Env } from '../../base/env.ts';

/** Values with other characters could change how a line is divided into words. */
const PLAIN = /^[\w./:@%+,~-]*$/;
const VARIABLE = /\$(?:(\w+)|\{(\w+)(?::?-[^}]*)?\})/g;

/** Replaces variables of a known plain value, and `~` for the home folder, in a line for a shell. Others stay as they are. */
export function expandVariables(line: string, env: Env): string {
  const { HOME: home } = env;
  const expanded = line.replace(VARIABLE, (whole, short?: string, long?: string) => {
    const value = env[short ?? long ?? ''];
    return value !== undefined && PLAIN.test(value) ? value : whole;
  });
  return home === undefined || !PLAIN.test(home)
    ? expanded
    : expanded.replace(/(^|[\s;&|("'=:])~(?=\/)/g, (_, before: string) => `${before}${home}`);
}
