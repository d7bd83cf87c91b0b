import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configDeprecations } from '../../src/config/problems/config-deprecations.ts';
import { sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

const summary =
  '`[features] guardian_approval` is deprecated. Use `approvals_reviewer = "guardian_subagent"` instead.';

async function deprecationsOf(text: string, overrides: string[] = []) {
  const home = tempFolder({ 'config.toml': text });
  return {
    path: join(home, 'config.toml'),
    notices: await configDeprecations(sourcesIn(home, { overrides })),
  };
}

test('guardian_approval is reported wherever it is set and in effect', async () => {
  const top = await deprecationsOf('model = "m"\n[features]\nguardian_approval = true\n');
  expect(top.notices).toEqual([{ summary, details: `It is set in ${top.path}:3.` }]);
  const profile = await deprecationsOf(
    'profile = "p"\n[profiles.p]\n[profiles.p.features]\nguardian_approval = true\n',
  );
  expect(profile.notices).toEqual([{ summary, details: `It is set in ${profile.path}:4.` }]);
  const flag = await deprecationsOf('', ['features.guardian_approval=true']);
  expect(flag.notices).toEqual([{ summary, details: 'It is given on the command line.' }]);
});

test.each([
  '',
  '[features]\nguardian_approval = false\n',
  '[profiles.other.features]\nguardian_approval = true\n',
  'broken [',
])('nothing is reported for %j', async (text) => {
  expect((await deprecationsOf(text)).notices).toEqual([]);
});
