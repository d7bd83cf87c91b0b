import type { Env } from '../../base/env.ts';

/** A stream that may be a terminal. Some terminals report a width of 0. */
export interface MaybeTerminal {
  isTTY?: boolean;
  columns?: number;
}

const COLUMNS_DEFAULT = 80;
/** Text for a person is not cut shorter, even if the terminal then breaks it. */
const TEXT_COLUMNS_MIN = 20;

const COLORS = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' } as const;

export type Color = keyof typeof COLORS;

/** The width of the first of these terminals that reports one, in characters. */
export function columnsOf(...outputs: readonly MaybeTerminal[]): number {
  return outputs.map(({ columns }) => columns).find(Boolean) ?? COLUMNS_DEFAULT;
}

/** The width at which text for a person is cut, in characters. */
export function textColumns(...outputs: readonly MaybeTerminal[]): number {
  return Math.max(TEXT_COLUMNS_MIN, columnsOf(...outputs));
}

/** Whether the terminal knows nothing but text: no colors, and no cursor to move. */
export function isDumb(env: Env): boolean {
  return env.TERM === 'dumb';
}

/**
 * Returns what gives text a color, if one of these is a terminal and the user does not want none.
 */
export function painter(
  outputs: readonly MaybeTerminal[],
  env: Env,
): (color: Color, text: string) => string {
  const isColored = outputs.some(({ isTTY }) => isTTY === true) && !env.NO_COLOR && !isDumb(env);
  return (color, text) =>
    isColored && text !== '' ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text;
}
