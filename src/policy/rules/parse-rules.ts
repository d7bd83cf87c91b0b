import { basename } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import { DEFAULT_RULES, type RulesFiles } from '../../config/rules-files.ts';
import type { NetworkRule } from '../network/network-rule.ts';
import type { ParsedRules, PrefixRule, RuleProblem } from './command-rules.ts';
import { matchesPrefix } from './matches-prefix.ts';
import { narrowed, permanentCommands } from './permanent-commands.ts';
import { readNetworkRule } from './read-network-rule.ts';
import { RuleReader, type RuleValue } from './rule-reader.ts';

/** The kind of rules that heddle ignores. */
const IGNORED_RULE = 'host_executable';
const ARGUMENTS: ReadonlySet<string> = new Set([
  'pattern',
  'decision',
  'justification',
  'match',
  'not_match',
]);

/** The work of reading a rule, in the units of `EventLoopYield`. */
const RULE_UNITS = 10;

type Arguments = ReadonlyMap<string, RuleValue>;

/**
 * Parses the rules of a file. Reports each invalid rule as a problem, and continues with the next
 * rule.
 */
export async function parseRules(
  text: string,
  path: string,
  breaks = new EventLoopYield(),
): Promise<ParsedRules> {
  const rules: PrefixRule[] = [];
  const networkRules: NetworkRule[] = [];
  const problems: RuleProblem[] = [];
  const reader = new RuleReader(text);
  for await (const line of inSlices(callLines(reader), RULE_UNITS, breaks)) {
    try {
      const call = reader.readCall();
      if (call.name === 'prefix_rule') rules.push(prefixRule(call.args));
      else if (call.name === 'network_rule') networkRules.push(readNetworkRule(call.args));
      else if (call.name !== IGNORED_RULE)
        throw new SyntaxError(
          `unknown rule ${call.name}: the rules are prefix_rule and network_rule`,
        );
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problems.push({ message: error.message, path, line });
      reader.skipToNextCall();
    }
  }
  return { rules, networkRules, problems };
}

/** The line of each call. The call is to be read before the next one is asked for. */
function* callLines(reader: RuleReader): Generator<number, void, void> {
  while (!reader.atEnd()) yield reader.line;
}

const parsedFiles = new WeakMap<RulesFiles, Promise<ParsedRules>>();

/**
 * Parses the rules of all files, narrows those of `default.rules`, and collects the problems of all
 * files. The same object is parsed once.
 */
export function commandRules(files: RulesFiles): Promise<ParsedRules> {
  const known = parsedFiles.get(files) ?? parseFiles(files);
  parsedFiles.set(files, known);
  return known;
}

async function parseFiles({ files, accepted, problems }: RulesFiles): Promise<ParsedRules> {
  const breaks = new EventLoopYield();
  const commands = await permanentCommands(accepted, breaks);
  const parsed: ParsedRules[] = [];
  for (const { text, path } of files) {
    const file = await parseRules(text, path, breaks);
    const isNarrowed = basename(path) === DEFAULT_RULES;
    parsed.push(
      isNarrowed
        ? { ...file, rules: file.rules.flatMap((rule) => narrowed(rule, commands)) }
        : file,
    );
  }
  return {
    rules: parsed.flatMap(({ rules }) => rules),
    networkRules: parsed.flatMap(({ networkRules }) => networkRules),
    problems: [
      ...problems.map((problem) => ({ ...problem, line: null })),
      ...parsed.flatMap((file) => file.problems),
      ...commands.problems,
    ],
  };
}

function prefixRule(args: Arguments): PrefixRule {
  for (const name of args.keys())
    if (!ARGUMENTS.has(name))
      throw new SyntaxError(
        `prefix_rule has no argument ${name}: its arguments are ${[...ARGUMENTS].join(', ')}`,
      );
  const rule = {
    pattern: pattern(args),
    decision: decision(args),
    justification: justification(args),
  };
  for (const words of examples(args, 'match'))
    if (!matchesPrefix(words, rule))
      throw new SyntaxError(`match: the pattern does not match ${JSON.stringify(words)}`);
  for (const words of examples(args, 'not_match'))
    if (matchesPrefix(words, rule))
      throw new SyntaxError(`not_match: the pattern matches ${JSON.stringify(words)}`);
  return rule;
}

function pattern(args: Arguments): string[][] {
  const value = args.get('pattern');
  if (!Array.isArray(value) || value.length === 0)
    throw new SyntaxError('pattern must be a non-empty list of words');
  return value.map((word) => {
    const alternatives = Array.isArray(word) ? word : [word];
    if (alternatives.length === 0 || !alternatives.every(isWord))
      throw new SyntaxError(
        'pattern: each word must be a non-empty string, or a non-empty list of them',
      );
    return alternatives;
  });
}

function isWord(value: RuleValue): value is string {
  return typeof value === 'string' && value !== '';
}

function decision(args: Arguments): PrefixRule['decision'] {
  const value = args.get('decision') ?? 'allow';
  if (value === 'allow' || value === 'prompt' || value === 'forbidden') return value;
  throw new SyntaxError('decision must be "allow", "prompt" or "forbidden"');
}

function justification(args: Arguments): string | null {
  const value = args.get('justification') ?? null;
  if (value === null || typeof value === 'string') return value;
  throw new SyntaxError('justification must be a string');
}

/** Reads example commands: each is a list of words, or a string that is split at whitespace. */
function examples(args: Arguments, name: string): string[][] {
  const value = args.get(name) ?? [];
  if (!Array.isArray(value)) throw new SyntaxError(`${name} must be a list of commands`);
  return value.map((example) => {
    const words =
      typeof example === 'string' ? example.split(/\s+/).filter((word) => word !== '') : example;
    if (!words.every(isWord))
      throw new SyntaxError(
        `${name}: each command must be a string, or a list of non-empty strings`,
      );
    return words;
  });
}
