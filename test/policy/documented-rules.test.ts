import { expect, test } from 'vitest';
import { judgeCommand } from '../../src/policy/command/judge-command.ts';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { SessionGrants } from '../../src/policy/permissions/session-grants.ts';
import { parseRules } from '../../src/policy/rules/parse-rules.ts';
import { section } from '../docs/pages.ts';

const POLICIES = ['untrusted', 'on-request', 'never'] as const;
const WORDS = { run: 'runs', ask: 'asks', refuse: 'is refused' };

const examples = section('docs/rules.md', 'Examples');
const [, text = ''] = /```python\n(.*?)```/s.exec(examples) ?? [];
/** The rows of each table: a command, and what happens under each approval policy. */
const tables = [...examples.matchAll(/\|---\|.*\n((?:\|.*\n)+)/g)].map(([, rows = '']) =>
  rows
    .trim()
    .split('\n')
    .map((row) => row.replace(/^\| | \|$/g, '').split(' | ')),
);

async function outcomes(script: string, rulesText: string): Promise<string[]> {
  const command = await parseCommand(['bash', '-lc', script]);
  const rules = await parseRules(rulesText, 'mine.rules');
  expect(rules.problems).toEqual([]);
  return POLICIES.map((approvalPolicy) => {
    const { verdict } = judgeCommand({
      request: {
        command,
        cwd: '/w',
        identity: new Map(),
        escalates: false,
        permissions: null,
        justification: null,
        prefixRule: null,
      },
      sandboxPolicy: { type: 'workspaceWrite' },
      staysInside: false,
      approvalPolicy,
      rules,
      grants: new SessionGrants(),
      trustsNames: () => true,
      hasFixedProgram: true,
      skillFile: null,
      leaving: null,
      project: '/w',
    });
    return WORDS[verdict];
  });
}

test.each([
  ['with all three rules', 0, text],
  ['without the rule that forbids', 1, text.replace(/^.*"forbidden".*$/m, '')],
])('the examples of docs/rules.md do what the page says: %s', async (_name, index, rulesText) => {
  const rows = tables[index] ?? [];
  expect(rows.length).toBeGreaterThan(2);
  for (const [code = '', ...expected] of rows)
    expect([code, ...(await outcomes(code.slice(1, -1), rulesText))]).toEqual([code, ...expected]);
});
