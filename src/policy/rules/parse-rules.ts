import type { RulesFiles } from '../../config/rules-files.ts';
import type { CommandRules, PrefixRule, RuleProblem } from './command-rules.ts';
import { matchesPrefix } from './matches-prefix.ts';
import { RuleReader, type RuleValue } from './rule-reader.ts';

/** Kinds of rules that are not about how commands begin. */
const OTHER_RULES: ReadonlySet<string> = new Set(['network_rule', 'host_executable']);
const ARGUMENTS: ReadonlySet<string> = new Set(['pattern', 'decision', 'justification', 'match', 'not_match']);

type Arguments = ReadonlyMap<string, RuleValue>;

/** The rules of a file. What in it is no rule is a problem, and the rules after it are read all the same. */
export function parseRules(text: string, path: string): CommandRules {
  const rules: PrefixRule[] = [];
  const problems: RuleProblem[] = [];
  const reader = new RuleReader(text);
  while (!reader.atEnd()) {
    const line = reader.line;
    try {
      const call = reader.readCall();
      if (call.name === 'prefix_rule') rules.push(prefixRule(call.args));
      else if (!OTHER_RULES.has(call.name)) throw new SyntaxError(`there is no rule ${call.name}`);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problems.push({ message: error.message, path, line });
      reader.skipToNextCall();
    }
  }
  return { rules, problems };
}

/** The rules of all files, and what is wrong with them. */
export function commandRules({ files, problems }: RulesFiles): CommandRules {
  const parsed = files.map(({ text, path }) => parseRules(text, path));
  return {
    rules: parsed.flatMap(({ rules }) => rules),
    problems: [...problems.map((problem) => ({ ...problem, line: null })), ...parsed.flatMap((file) => file.problems)],
  };
}

function prefixRule(args: Arguments): PrefixRule {
  for (const name of args.keys()) if (!ARGUMENTS.has(name)) throw new SyntaxError(`prefix_rule has no ${name}`);
  const rule = { pattern: pattern(args), decision: decision(args), justification: justification(args) };
  for (const words of examples(args, 'match'))
    if (!matchesPrefix(words, rule)) throw new SyntaxError(`match: the pattern does not match ${JSON.stringify(words)}`);
  for (const words of examples(args, 'not_match'))
    if (matchesPrefix(words, rule)) throw new SyntaxError(`not_match: the pattern matches ${JSON.stringify(words)}`);
  return rule;
}

function pattern(args: Arguments): string[][] {
  const value = args.get('pattern');
  if (!Array.isArray(value) || value.length === 0) throw new SyntaxError('pattern must be a list of words that is not empty');
  return value.map((word) => {
    const alternatives = Array.isArray(word) ? word : [word];
    if (alternatives.length === 0 || !alternatives.every(isWord))
      throw new SyntaxError('pattern: each word is a string, or a list of strings');
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

/** Commands as lists of words, or as text whose words are parted by blanks. */
function examples(args: Arguments, name: string): string[][] {
  const value = args.get(name) ?? [];
  if (!Array.isArray(value)) throw new SyntaxError(`${name} must be a list of commands`);
  return value.map((example) => {
    const words = typeof example === 'string' ? example.split(/\s+/).filter((word) => word !== '') : example;
    if (!words.every(isWord)) throw new SyntaxError(`${name}: each command is a string, or a list of strings`);
    return words;
  });
}
