/** A stream that may be a terminal. Some terminals report a width of 0. */
export interface MaybeTerminal {
  isTTY?: boolean;
  columns?: number;
}

const COLUMNS_DEFAULT = 80;
/** Text for a person is not cut shorter, even if the terminal then breaks it. */
const TEXT_COLUMNS_MIN = 20;

/** The width of the first of these terminals that reports one, in characters. */
export function columnsOf(...outputs: readonly MaybeTerminal[]): number {
  return outputs.map(({ columns }) => columns).find(Boolean) ?? COLUMNS_DEFAULT;
}

/** The width at which text for a person is cut, in characters. */
export function textColumns(...outputs: readonly MaybeTerminal[]): number {
  return Math.max(TEXT_COLUMNS_MIN, columnsOf(...outputs));
}
