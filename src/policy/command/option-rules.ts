/** The options that a program may be given. */
export interface OptionRules {
  /** Letters, alone or several behind one dash, with a value behind them or without. */
  short: string;
  /** Whole names: a beginning of one may be taken for another. */
  long: ReadonlySet<string>;
  /** How many words may be no options. */
  operandsMax?: number;
}

/**
 * Whether each of the arguments is an option that is allowed, or no option. What begins with a dash has to be allowed even
 * where it is a value or stands behind `--`: it is not known what the program takes it for.
 */
export function allowsOptions(args: readonly string[], { short, long, operandsMax = Number.POSITIVE_INFINITY }: OptionRules): boolean {
  const end = args.indexOf('--');
  const operands = args.filter((arg, index) => !isOption(arg) || (end !== -1 && index > end));
  return operands.length <= operandsMax && args.every((arg) => !isOption(arg) || isAllowed(arg, short, long));
}

function isOption(arg: string): boolean {
  return arg.startsWith('-') && arg !== '-' && arg !== '--';
}

function isAllowed(option: string, short: string, long: ReadonlySet<string>): boolean {
  if (option.startsWith('--')) return long.has(option.slice(2).split('=')[0] ?? '');
  return [...option.slice(1)].every((letter) => short.includes(letter));
}
