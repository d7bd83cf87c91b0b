import { join } from 'node:path';
import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { takeCodex } from '../../../src/cli/init/take-codex.ts';
import { uncopiedPaths } from '../../../src/cli/init/uncopied-paths.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import { configWarnings } from '../../../src/config/problems/config-warnings.ts';
import { sourcesIn } from '../../config/load.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { runs } from '../../support/runs.ts';

const CANARY = 'c4nary0c4nary0c4nary0';
const KEY = `sk-${CANARY}`;

/** A value with a secret or without one. */
const plain = fc.constantFrom('plain', 'a#b', 'a "quoted" word', "it's", 'two\nlines');
const either = fc.oneof(
  plain,
  fc.constant(KEY),
  fc.constant(`--token=${CANARY}`),
  fc.constant(`https://me:${CANARY}@a.example/v1`),
);
/** All that a table for secrets has is left out. */
const opaque = fc.dictionary(fc.constantFrom('A', 'b-c', 'd.e'), fc.constant(CANARY), {
  minKeys: 1,
});
const some = <T extends Record<string, fc.Arbitrary<unknown>>>(model: T) =>
  fc.record(model, { requiredKeys: [] });
const named = (table: fc.Arbitrary<object>) =>
  fc.dictionary(fc.constantFrom('one', 'two', 'a.b', 'env'), table, { maxKeys: 2 });

const config = some({
  model: fc.constantFrom('large', 'small'),
  sandbox_mode: fc.constantFrom('read-only', 'workspace-write'),
  notify: fc.array(either, { minLength: 1, maxLength: 3 }),
  model_providers: named(
    some({
      base_url: fc.constantFrom(
        'https://a.example/v1',
        `https://me:${CANARY}@a.example/v1`,
        `https://a.example/v1?api_key=${CANARY}`,
      ),
      env_key: fc.constantFrom('WORK_KEY', KEY),
      experimental_bearer_token: fc.constant(CANARY),
      http_headers: opaque,
      query_params: opaque,
      env_http_headers: fc.constant({ Authorization: 'WORK_HEADER' }),
      aws: fc.constant({ secret: CANARY }),
    }),
  ),
  mcp_servers: named(
    some({
      command: fc.constantFrom('program', 'npx', 'docker', '/bin/sh'),
      args: fc.array(
        fc.oneof(
          either,
          fc.constantFrom(
            '-y',
            '--port',
            '8080',
            '-m',
            '-e',
            'HOME',
            '/usr',
            `-k${CANARY}`,
            CANARY,
          ),
        ),
        {
          maxLength: 4,
        },
      ),
      env: opaque,
      env_vars: fc.constant(['A_TOKEN']),
      colour: either,
    }),
  ),
  shell_environment_policy: some({ inherit: fc.constant('core'), set: opaque }),
  desktop: some({ theme: plain, token: fc.constant(CANARY) }),
  tui: some({ theme: either }),
  unknown: either,
  features: some({ goals: fc.boolean(), apps: fc.boolean(), xyzzy: fc.boolean() }),
});

/** The text with comments, after any lines. */
function commented(text: string, comments: readonly string[]): string {
  // Not within the strings of several lines, which stringify does not write.
  return text
    .split('\n')
    .map((line, index) => (comments[index] === undefined ? line : `# ${comments[index]}\n${line}`))
    .join('\n');
}

const comments = fc.array(
  fc.constantFrom(
    'mine',
    `api_key = "${CANARY}"`,
    KEY,
    `env = { TOKEN = '${CANARY}' }`,
    'it\'s "half a quote',
  ),
  {
    maxLength: 5,
  },
);

test('no secret is taken, and what is not named as left out is as it was', {
  tags: 'seeded',
}, async () => {
  await fc.assert(
    fc.asyncProperty(config, comments, async (table, notes) => {
      const [codex, home] = [
        tempFolder({ 'config.toml': commented(stringify(table), notes) }),
        tempFolder(),
      ];
      const configWith = (userText: string) => loadConfig({ ...sourcesIn(home), userText });
      const taken = await takeCodex(join(codex, 'config.toml'), { configWith });
      expect(taken.text).not.toContain(CANARY);
      const [before, after] = [await configWith(stringify(table)), await configWith(taken.text)];
      expect(uncopiedPaths(after.values)).toEqual({ leavable: [], needed: [], unknown: [] });
      const left = [...taken.unused, ...[...taken.secret.values()].flat()].map((key) =>
        key.replaceAll('"', ''),
      );
      expect(
        leavesOf(before.values).filter(
          (leaf) => !left.some((key) => `${leaf}.`.startsWith(`${key}.`)),
        ),
      ).toEqual(leavesOf(after.values));
      const warnings = await configWarnings(sourcesIn(tempFolder({ 'config.toml': taken.text })));
      expect(
        warnings.filter(({ summary }) =>
          /not a known key|does not use|does not know/.test(summary),
        ),
      ).toEqual([]);
    }),
    { numRuns: runs(60) },
  );
});

/** The dotted paths of all values that are not tables, with the values. */
function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${path}.=${JSON.stringify(value)}`];
  return Object.entries(value)
    .flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`))
    .sort();
}
