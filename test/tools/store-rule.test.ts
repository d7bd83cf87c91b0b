import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRuleFiles } from '../../src/config/rules-files.ts';
import { UNCONFINED } from '../../src/tools/action.ts';
import type { CommandRun } from '../../src/tools/command/command-run.ts';
import { storeRule } from '../../src/tools/command/store-rule.ts';
import { tempFolder } from '../config/temp-folder.ts';

const WORDS = ['make', 'it'];

test('two acceptances of a command at the same time, for two projects, are both in force', async () => {
  const home = tempFolder();
  mkdirSync(join(home, 'rules'));
  // Of a rule that was removed.
  const old = { words: WORDS, exact: true, beyond: false, project: '/old' };
  writeFileSync(join(home, 'rules', 'heddle-accepted.jsonl'), `${JSON.stringify(old)}\n`);
  const warnings: unknown[] = [];
  const accept = (project: string) => {
    const context = { threadId: 't', settings: { sandboxPolicy: { type: 'dangerFullAccess' } } };
    const run = {
      command: { commands: [{ words: WORDS }] },
      context,
      services: { machine: { home } },
      permissions: null,
      project,
    };
    const host = { emit: async (warning: unknown) => void warnings.push(warning) };
    return storeRule(
      run as unknown as CommandRun,
      { words: WORDS, permit: UNCONFINED },
      host as never,
    );
  };
  await Promise.all([accept('/a'), accept('/b')]);
  expect(warnings).toEqual([]);
  const lines = ((await readRuleFiles(home)).accepted?.text ?? '').trim().split('\n');
  expect(lines.slice(1).map((line) => JSON.parse(line))).toMatchObject([
    { project: '/a', fresh: true },
    { project: '/b' },
  ]);
  expect(lines.at(-1)).not.toContain('fresh');
});
