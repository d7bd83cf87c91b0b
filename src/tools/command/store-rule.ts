import { KeyedQueue } from '../../base/keyed-queue.ts';
import { appendAccepted, appendAllowRule, readRuleFiles } from '../../config/rules-files.ts';
import { isOpenPrefix } from '../../policy/command/propose-amendment.ts';
import { isHarmless } from '../../policy/harmless/is-harmless.ts';
import { quoteWords } from '../../policy/parse/quote-words.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import { hasBounds } from '../../policy/permissions/sandbox-bounds.ts';
import { commandRules } from '../../policy/rules/parse-rules.ts';
import { acceptedLine } from '../../policy/rules/permanent-commands.ts';
import { planAcceptance } from '../../policy/rules/plan-acceptance.ts';
import { ruleAllows } from '../../policy/rules/rule-allows.ts';
import { strictRule } from '../../policy/rules/strict-rule.ts';
import type { ActionHost } from '../action.ts';
import type { CommandRun } from './command-run.ts';

interface AcceptedRule {
  words: readonly string[];
  /** The permissions that the person granted for this run. */
  permit: Permit;
}

/**
 * Stores that a person allowed these words permanently: in the project of the command, only these
 * words unless no further words can do harm, and beyond the sandbox only if this run goes beyond
 * it. Clients get a warning if the words cannot be stored, or if they do not cover the command.
 */
export async function storeRule(
  run: CommandRun,
  rule: AcceptedRule,
  { emit }: ActionHost,
): Promise<void> {
  const problem = await storing.run(run.services.machine.home, () => store(run, rule));
  if (problem === null) return;
  const message = `${problem} The command will need approval again.`;
  await emit({ method: 'warning', params: { threadId: run.context.threadId, message } });
}

/** By home: a plan for the files there holds only until another rule is stored. */
const storing = new KeyedQueue();

/** Returns the problem for the user, or null. */
async function store(
  { command, context, services, permissions, project }: CommandRun,
  { words, permit }: AcceptedRule,
): Promise<string | null> {
  if (words.length === 0 || words.includes(''))
    return 'The rule was not stored: a rule needs at least one word, and no word may be empty.';
  const commands = command.commands ?? [];
  const exact = !commands.some((simple) => isOpenPrefix(words, simple.words));
  const beyond =
    hasBounds(context.settings.sandboxPolicy) && (!permit.sandboxed || permissions !== null);
  try {
    const { line, addsRule } = await planAcceptance(await readRuleFiles(services.machine.home), {
      words,
      exact,
      beyond,
      project,
    });
    // In this order: without its line, the rule would hold for more than the person allowed.
    if (line !== null) appendAccepted(services.machine.home, acceptedLine(line));
    if (addsRule) appendAllowRule(services.machine.home, words);
  } catch (error) {
    return `The rule could not be stored: ${error instanceof Error ? error.message : String(error)}.`;
  }
  const stored = await commandRules(await readRuleFiles(services.machine.home));
  if (strictRule(command, stored) !== null)
    return 'The rule is stored, but another rule requires approval for this command.';
  const isCovered = (each: readonly string[]) =>
    stored.rules.some((rule) => ruleAllows(rule, each, { project, goesBeyond: beyond })) ||
    (!beyond && isHarmless(each, { confined: false }));
  if (commands.length > 0 && commands.every((simple) => isCovered(simple.words))) return null;
  return `The rule is stored, but it does not cover this command: it allows only \`${quoteWords(words)}\`, in ${project}.`;
}
