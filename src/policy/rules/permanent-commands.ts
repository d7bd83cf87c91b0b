import { isAbsolute } from 'node:path';
import type { EventLoopYield } from '../../base/event-loop-yield.ts';
import { inSlices } from '../../base/in-slices.ts';
import type { RulesFile } from '../../config/rules-files.ts';
import type { PrefixRule, RuleProblem } from './command-rules.ts';

/**
 * A line of `heddle-accepted.jsonl`: a person allowed a command permanently, and `default.rules`
 * has a rule for it.
 */
export interface PermanentCommand {
  /** The pattern of the rule that this line narrows. */
  words: readonly string[];
  /** Whether only these words are allowed. Otherwise, further words may follow. */
  exact: boolean;
  /**
   * Whether they are allowed beyond the sandbox policy. Otherwise, they are allowed only within it.
   */
  beyond: boolean;
  /** The root of the project in which the command is allowed: a real path. */
  project: string;
  /**
   * Whether earlier lines with the same words no longer count, because their rule was removed in
   * the meantime.
   */
  fresh?: boolean;
}

/** Accepted commands by their words, and a problem for each invalid line. */
export interface PermanentCommands {
  of(words: readonly string[]): readonly PermanentCommand[];
  problems: readonly RuleProblem[];
}

/** The work of reading a line, in the units of `EventLoopYield`. */
const LINE_UNITS = 10;

const KEYS: ReadonlySet<string> = new Set(['words', 'exact', 'beyond', 'project', 'fresh']);

/** Parses the lines of `heddle-accepted.jsonl`. */
export async function permanentCommands(
  file: RulesFile | null,
  breaks: EventLoopYield,
): Promise<PermanentCommands> {
  const byWords = new Map<string, PermanentCommand[]>();
  const problems: RuleProblem[] = [];
  const all = (file?.text ?? '').split('\n').entries();
  for await (const [index, line] of inSlices(all, LINE_UNITS, breaks)) {
    if (line.trim() === '') continue;
    const command = readLine(line);
    if (command === null)
      problems.push({ message: INVALID, path: file?.path ?? '', line: index + 1 });
    else {
      const key = JSON.stringify(command.words);
      const earlier = byWords.get(key);
      if (earlier === undefined || command.fresh === true) byWords.set(key, [command]);
      else earlier.push(command);
    }
  }
  return { of: (words) => byWords.get(JSON.stringify(words)) ?? [], problems };
}

/** Returns the line for an accepted command. */
export function acceptedLine({
  words,
  exact,
  beyond,
  project,
  fresh = false,
}: PermanentCommand): string {
  return JSON.stringify({ words, exact, beyond, project, ...(fresh ? { fresh } : {}) });
}

/** Returns a rule of `default.rules` as it holds: unchanged if no line narrows it. */
export function narrowed(rule: PrefixRule, accepted: PermanentCommands): PrefixRule[] {
  const words = plainPattern(rule);
  const lines = rule.decision === 'allow' && words !== null ? accepted.of(words) : [];
  if (lines.length === 0) return [rule];
  return KINDS.flatMap(({ exact, beyond }) => {
    const projects = lines
      .filter((line) => line.exact === exact && line.beyond === beyond)
      .map(({ project }) => project);
    return projects.length === 0
      ? []
      : [{ ...rule, exact, within: !beyond, projects: [...new Set(projects)] }];
  });
}

const KINDS = [true, false].flatMap((exact) => [true, false].map((beyond) => ({ exact, beyond })));

/** Returns the words of a pattern that has no alternatives, else null. */
export function plainPattern({ pattern }: PrefixRule): string[] | null {
  return pattern.every(({ length }) => length === 1) ? pattern.flat() : null;
}

const INVALID =
  'expected {"words": […], "exact": true or false, "beyond": true or false, "project": "an absolute path"}';

function readLine(line: string): PermanentCommand | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (
    typeof value !== 'object' ||
    value === null ||
    !Object.keys(value).every((key) => KEYS.has(key))
  )
    return null;
  const { words, exact, beyond, project, fresh = false } = value as Record<string, unknown>;
  const isValid =
    Array.isArray(words) &&
    words.length > 0 &&
    words.every((word): word is string => typeof word === 'string' && word !== '') &&
    typeof exact === 'boolean' &&
    typeof beyond === 'boolean' &&
    typeof fresh === 'boolean' &&
    typeof project === 'string' &&
    isAbsolute(project);
  return isValid ? { words, exact, beyond, project, fresh } : null;
}
