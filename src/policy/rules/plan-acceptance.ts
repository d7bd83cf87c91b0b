import { basename } from 'node:path';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { DEFAULT_RULES, type RulesFiles } from '../../config/rules-files.ts';
import { parseRules } from './parse-rules.ts';
import {
  acceptedLine,
  type PermanentCommand,
  permanentCommands,
  plainPattern,
} from './permanent-commands.ts';

/** The writes that allow a command permanently, in this order. */
export interface AcceptancePlan {
  /** The line for `heddle-accepted.jsonl`. Null: none is needed. */
  line: PermanentCommand | null;
  /** Whether `default.rules` needs a rule with these words. */
  addsRule: boolean;
}

/** Plans how to store a command that a person allowed permanently, given the files as they are. */
export async function planAcceptance(
  files: RulesFiles,
  wanted: Omit<PermanentCommand, 'fresh'>,
): Promise<AcceptancePlan> {
  const breaks = new EventLoopYield();
  const file = files.files.find(({ path }) => basename(path) === DEFAULT_RULES);
  const { rules } = await parseRules(file?.text ?? '', DEFAULT_RULES, breaks);
  const words = JSON.stringify(wanted.words);
  const hasRule = rules.some(
    (rule) => rule.decision === 'allow' && JSON.stringify(plainPattern(rule)) === words,
  );
  const lines = (await permanentCommands(files.accepted, breaks)).of(wanted.words);
  // A rule without lines is the user's own and holds everywhere. A line would narrow it.
  if (hasRule && lines.length === 0) return { line: null, addsRule: false };
  // `fresh` says nothing about what the line allows.
  const isStored =
    hasRule &&
    lines.some((line) => acceptedLine({ ...line, fresh: false }) === acceptedLine(wanted));
  // Without the rule, earlier lines belong to a rule that was removed. They must not become valid
  // again.
  return {
    line: isStored ? null : { ...wanted, fresh: !hasRule && lines.length > 0 },
    addsRule: !hasRule,
  };
}
