import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseCommand } from '../../src/policy/parse/parse-command.ts';
import { parseRules } from '../../src/policy/rules/parse-rules.ts';
import { strictRule } from '../../src/policy/rules/strict-rule.ts';

const docs = readFileSync(new URL('../../docs/rules/forced-removal.md', import.meta.url), 'utf8');
const text = /<!-- destructive-rules -->\n```python\n([\s\S]*?)```/.exec(docs)?.[1] ?? '';

const ASKED = [
  ...[
    'git clean -f',
    'git clean -xdf',
    'git -C dir clean -fd',
    'git reset --hard',
    'git reset --hard HEAD~1',
    'git reset HEAD~1 --hard',
    'git reset --har',
  ],
  ...[
    'git push --force',
    'git push -f',
    'git push origin main --force',
    'git push -uf origin main',
    'git push --force-with-lease',
    'git push --forc',
    'git push --force-with-lease=main',
  ],
  ...[
    'git push origin --delete main',
    'git push --mirror',
    'git checkout -f main',
    'git checkout main --force',
    'git switch --discard-changes a',
    'git branch -D a',
    'git branch a -D',
  ],
  ...[
    'find . -delete',
    'find . -name x -delete',
    'find / -type f -exec rm {} +',
    'shred -u x',
    'mkfs.ext4 /dev/sda',
    'mkfs -t ext4 /dev/sda',
    'dd if=/dev/zero of=/dev/sda',
    '/sbin/mkfs.xfs x',
    'truncate -s 0 x',
  ],
  ...[
    'sudo dd of=/dev/sda',
    "bash -c 'git reset --hard'",
    'cd x && git clean -fdx',
    'for i in a; do shred $i; done',
    'ls | xargs shred',
    'git $X --hard',
    'git push $X',
  ],
];
const FREE = [
  'git status',
  'git reset',
  'git reset --soft HEAD~1',
  'git reset a',
  'git push',
  'git push origin main',
  'git push -u origin main',
  'git checkout main',
  'git branch -d a',
  'find . -name x',
  'ls',
  'rm x',
  'git log --format=x',
];

test('the rules of docs/rules/forced-removal.md ask about destructive commands, and not about their relatives', async () => {
  const rules = await parseRules(text, 'x.rules');
  const decisions = async (scripts: string[]) =>
    Promise.all(
      scripts.map(async (script) => [
        script,
        strictRule(await parseCommand(['bash', '-lc', script]), rules)?.decision ?? null,
      ]),
    );
  expect(rules.problems).toEqual([]);
  expect(await decisions(ASKED)).toEqual(ASKED.map((script) => [script, 'prompt']));
  expect(await decisions(FREE)).toEqual(FREE.map((script) => [script, null]));
});
