import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RulesFiles } from '../../src/config/rules-files.ts';
import { commandRules } from '../../src/policy/rules/parse-rules.ts';
import { acceptedLine, type PermanentCommand } from '../../src/policy/rules/permanent-commands.ts';
import { planAcceptance } from '../../src/policy/rules/plan-acceptance.ts';
import { type RuleScope, ruleAllows } from '../../src/policy/rules/rule-allows.ts';

const COMMANDS = [['a'], ['a', 'b'], ['a', 'b', 'c'], ['b']];
const PROJECTS = ['/p', '/q'];

interface Run extends RuleScope {
  words: readonly string[];
}

const RUNS: Run[] = COMMANDS.flatMap((words) =>
  PROJECTS.flatMap((project) =>
    [false, true].map((goesBeyond) => ({ words, project, goesBeyond })),
  ),
);

function covers(
  { words, exact, beyond, project }: Omit<PermanentCommand, 'fresh'>,
  run: Run,
): boolean {
  const isBeginning = words.every((word, index) => word === run.words[index]);
  return (
    isBeginning &&
    project === run.project &&
    (beyond || !run.goesBeyond) &&
    (!exact || words.length === run.words.length)
  );
}

/** The two files, and what a person did with them. */
class Home {
  default = '';
  accepted = '';

  files(): RulesFiles {
    return {
      files: [{ path: '/h/rules/default.rules', text: this.default }],
      accepted: { path: '/h/rules/heddle-accepted.jsonl', text: this.accepted },
      problems: [],
    };
  }

  /** `stops`: the process ends before it writes the rule. */
  async accept(command: Omit<PermanentCommand, 'fresh'>, stops: boolean): Promise<void> {
    const { line, addsRule } = await planAcceptance(this.files(), command);
    if (line !== null) this.accepted += `${acceptedLine(line)}\n`;
    if (addsRule && !stops) this.default += ruleOf(command.words);
  }

  remove(words: readonly string[]): void {
    this.default = this.default.replaceAll(ruleOf(words), '');
  }

  async allows({ words, ...scope }: Run): Promise<boolean> {
    const { rules, problems } = await commandRules(this.files());
    expect(problems).toEqual([]);
    return rules.some((rule) => ruleAllows(rule, words, scope));
  }
}

const ruleOf = (words: readonly string[]) =>
  `prefix_rule(pattern=${JSON.stringify(words)}, decision="allow")\n`;

test('whatever is accepted and removed, a command is allowed only if it was accepted after the last removal', async () => {
  const accepted = fc.record({
    words: fc.constantFrom(...COMMANDS),
    exact: fc.boolean(),
    beyond: fc.boolean(),
    project: fc.constantFrom(...PROJECTS),
  });
  const step = fc.oneof(
    fc.record({
      accepted,
      stops: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
    fc.record({ removed: fc.constantFrom(...COMMANDS) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const home = new Home();
      let model: Omit<PermanentCommand, 'fresh'>[] = [];
      for (const one of steps) {
        if ('removed' in one) {
          home.remove(one.removed);
          model = model.filter(({ words }) => words !== one.removed);
        } else {
          const hadRule = home.default.includes(ruleOf(one.accepted.words));
          await home.accept(one.accepted, one.stops);
          // Without a rule, the line has no effect.
          if (hadRule || !one.stops) model.push(one.accepted);
        }
      }
      for (const run of RUNS)
        expect(await home.allows(run), JSON.stringify({ run, home })).toBe(
          model.some((one) => covers(one, run)),
        );
    }),
    { seed: 1, numRuns: 300 },
  );
});

test("a user's own rule is never narrowed by accepting its words", async () => {
  const home = new Home();
  home.default = 'prefix_rule(pattern = ["a"])  # mine\n';
  await home.accept({ words: ['a'], exact: true, beyond: false, project: '/p' }, false);
  expect(home).toMatchObject({ default: 'prefix_rule(pattern = ["a"])  # mine\n', accepted: '' });
  expect(await home.allows({ words: ['a', 'b'], project: '/q', goesBeyond: true })).toBe(true);
});
