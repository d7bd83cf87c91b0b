import { INTERPRETERS } from '../parse/command-runners.ts';
import type { ParsedCommand } from '../parse/parse-command.ts';
import { programName } from '../parse/program-name.ts';
import type { CommandRules, PrefixRule } from './command-rules.ts';

/** The rule that restricts a command, and the resulting decision. */
export interface StrictRule {
  decision: 'prompt' | 'forbidden';
  rule: PrefixRule;
  /** Whether the command may match the rule or not, because it cannot be read exactly. */
  uncertain: boolean;
}

type Match = 'certain' | 'possible' | null;

/** Stands for text that only the shell knows, in the words of possible commands. */
const ANYTHING = '\0';

/**
 * Returns the strictest rule that forbids a command or requires approval, or null if there is none.
 * Also matches commands inside shells, runners and quotes, and programs in any folder. If it is
 * uncertain whether a rule matches, the decision is `prompt`.
 */
export function strictRule(command: ParsedCommand, { rules }: CommandRules): StrictRule | null {
  const found: StrictRule[] = [];
  for (const rule of rules) {
    if (rule.decision === 'allow') continue;
    const match = matchAnywhere(command, rule);
    if (match === 'certain') found.push({ decision: rule.decision, rule, uncertain: false });
    if (match === 'possible') found.push({ decision: 'prompt', rule, uncertain: true });
  }
  return (
    found.find(({ decision }) => decision === 'forbidden') ??
    found.find(({ uncertain }) => !uncertain) ??
    found[0] ??
    null
  );
}

function matchAnywhere(
  { commands, possibleCommands, text }: ParsedCommand,
  rule: PrefixRule,
): Match {
  const matches = possibleCommands.map(({ words }) => match(words, rule.pattern));
  if (matches.includes('certain')) return 'certain';
  const isOpaque = commands === null || commands.some(({ words }) => runsCode(words));
  return matches.includes('possible') || (isOpaque && namesInOrder(text, rule.pattern))
    ? 'possible'
    : null;
}

/** Whether an interpreter gets code as an argument, as in `python -c "…"`. */
function runsCode([program = '', ...args]: readonly string[]): boolean {
  return INTERPRETERS.test(programName(program)) && args.some((arg) => /[\s()'"`;]/.test(arg));
}

/** How the words of a command are compared with those of a pattern. */
interface Comparison {
  fits: (word: string, other: string) => boolean;
  /** The positions at which an option may stand, from those that the words before it leave. */
  optionPositions: (args: readonly string[], positions: ReadonlySet<number>) => Iterable<number>;
}

const CERTAIN: Comparison = { fits: fitsExactly, optionPositions: amongOptions };
const POSSIBLE: Comparison = { fits: mayFit, optionPositions: beforeDashes };

/**
 * Matches a command with a pattern. Between the words of the pattern there may be options, with or
 * without a value. An option of the pattern matches for certain if only options stand between it
 * and the word before it. It matches possibly behind other words, which may be those of another
 * program, abbreviated, or with other letters in one word, which may be its value. Behind `--`
 * there are no options.
 */
function match(
  [program = '', ...args]: readonly string[],
  [names = [], ...rest]: PrefixRule['pattern'],
): Match {
  const name = programName(program);
  const isNamed = names.some((other) => programName(other) === name);
  if (isNamed && follows(args, rest, CERTAIN)) return 'certain';
  const mayBeNamed = isNamed || names.some((other) => mayBe(name, programName(other)));
  return mayBeNamed && follows(args, rest, POSSIBLE) ? 'possible' : null;
}

function follows(
  args: readonly string[],
  pattern: PrefixRule['pattern'],
  { fits, optionPositions }: Comparison,
): boolean {
  let positions: ReadonlySet<number> = new Set([0]);
  for (const alternatives of pattern) {
    const isOption = alternatives.every(isOptionWord);
    const reached = isOption ? optionPositions(args, positions) : skipOptions(args, positions);
    const fitting = [...reached].filter((position) =>
      alternatives.some((other) => fits(args[position] ?? '', other)),
    );
    // Text that only the shell knows may be several words.
    if (fitting.some((position) => args[position]?.includes(ANYTHING))) return true;
    positions = new Set(fitting.map((position) => position + 1));
  }
  return positions.size > 0;
}

function isOptionWord(word: string): boolean {
  return word.startsWith('-') && word !== '--';
}

function skipOptions(args: readonly string[], positions: ReadonlySet<number>): ReadonlySet<number> {
  const reached = new Set(positions);
  // The loop also visits the positions that it adds.
  for (const position of reached)
    if (args[position]?.startsWith('-')) reached.add(position + 1).add(position + 2);
  return reached;
}

/** The given positions, and those behind them as long as all words are options. */
function amongOptions(
  args: readonly string[],
  positions: ReadonlySet<number>,
): ReadonlySet<number> {
  const end = endOfOptions(args);
  const reached = new Set([...positions].filter((position) => position < end));
  for (const position of reached)
    if (position + 1 < end && isOptionWord(args[position] ?? '')) reached.add(position + 1);
  return reached;
}

/** All positions from the first given one on, up to `--`. */
function beforeDashes(args: readonly string[], positions: ReadonlySet<number>): number[] {
  const first = Math.min(...positions);
  const end = endOfOptions(args);
  return [...args.keys()].filter((position) => position >= first && position < end);
}

function endOfOptions(args: readonly string[]): number {
  const at = args.indexOf('--');
  return at === -1 ? args.length : at;
}

/** Whether a word is another one, or this option with a value. */
function fitsExactly(word: string, other: string): boolean {
  return (
    word === other ||
    (other.startsWith('--') &&
      other.length > 2 &&
      word.startsWith(`${other}=`) &&
      !word.includes(ANYTHING))
  );
}

/**
 * Whether a word may be another one, or an option that has this one among its letters or
 * abbreviates it.
 */
function mayFit(word: string, other: string): boolean {
  if (mayBe(word, other) || !isOptionWord(word) || !isOptionWord(other)) return mayBe(word, other);
  if (!other.startsWith('--'))
    return other.length === 2 && /^-[a-z\d]+$/i.test(word) && word.includes(other.charAt(1));
  const [name = ''] = word.split('=');
  return name.length > 3 && other.startsWith(name);
}

/** Whether a word may become `other` when the shell fills in the unknown parts. */
function mayBe(word: string, other: string): boolean {
  if (!word.includes(ANYTHING)) return word === other;
  const start = word.slice(0, word.indexOf(ANYTHING));
  const end = word.slice(word.lastIndexOf(ANYTHING) + 1);
  return (
    other.length >= start.length + end.length && other.startsWith(start) && other.endsWith(end)
  );
}

/** Whether a text contains the words of a pattern, in this order. */
function namesInOrder(text: string, pattern: PrefixRule['pattern']): boolean {
  const plain = text
    .replace(/\\\n/g, '')
    .replace(/['"\\]/g, '')
    .toLowerCase();
  let from = 0;
  return pattern.every((alternatives, index) => {
    const ends = alternatives
      .map((word) => endOf(plain, index === 0 ? programName(word) : word.toLowerCase(), from))
      .filter((end) => end !== -1);
    from = Math.min(...ends);
    return ends.length > 0;
  });
}

/** Returns the end of a whole word in a text, or -1 if the text does not contain it. */
function endOf(text: string, word: string, from: number): number {
  for (let at = text.indexOf(word, from); at !== -1; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (!/[\w-]/.test(text[at - 1] ?? ' ') && !/[\w-]/.test(text[end] ?? ' ')) return end;
  }
  return -1;
}
