import type { Env } from '../../base/env.ts';
import type { MaybeTerminal } from './columns-of.ts';

const COLORS = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33', cyan: '36' } as const;

export type Color = keyof typeof COLORS;

/** Whether the terminal knows nothing but text: no colors, and no cursor to move. */
export function isDumb(env: Env): boolean {
  return env.TERM === 'dumb';
}

/**
 * Returns a function that gives text a color, if one of these is a terminal and the user allows
 * colors.
 */
export function painter(
  outputs: readonly MaybeTerminal[],
  env: Env,
): (color: Color, text: string) => string {
  const isColored = outputs.some(({ isTTY }) => isTTY === true) && !env.NO_COLOR && !isDumb(env);
  return (color, text) =>
    isColored && text !== '' ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text;
}
