/** The options that are allowed for a program. */
export interface OptionRules {
  /** Letters, alone or several after one dash, with or without a value. */
  short: string;
  /** Complete names: an abbreviation may mean another option. */
  long: ReadonlySet<string>;
  /** The most words that are not options. */
  operandsMax?: number;
}

/**
 * Whether every option in the arguments is allowed. An argument that begins with a dash must be
 * allowed even if it is a value or comes after `--`, because it is not known how the program reads
 * it.
 */
export function allowsOptions(
  args: readonly string[],
  { short, long, operandsMax = Number.POSITIVE_INFINITY }: OptionRules,
): boolean {
  const end = args.indexOf('--');
  const operands = args.filter((arg, index) => !isOption(arg) || (end !== -1 && index > end));
  return (
    operands.length <= operandsMax &&
    args.every((arg) => !isOption(arg) || isAllowed(arg, short, long))
  );
}

function isOption(arg: string): boolean {
  return arg.startsWith('-') && arg !== '-' && arg !== '--';
}

function isAllowed(option: string, short: string, long: ReadonlySet<string>): boolean {
  if (option.startsWith('--')) return long.has(option.slice(2).split('=')[0] ?? '');
  return [...option.slice(1)].every((letter) => short.includes(letter));
}
