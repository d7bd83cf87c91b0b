import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configReadResponse } from '../../src/config/config-read-response.ts';
import { FEATURE_LIST, shownFeatures } from '../../src/config/features/feature-list.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { configWarnings } from '../../src/config/problems/config-warnings.ts';
import { chooseProvider } from '../../src/config/providers/choose-provider.ts';
import { webSearch } from '../../src/config/web-search.ts';
import { networkPolicyRule } from '../../src/policy/network/network-policy-rule.ts';
import { notAllowed } from '../../src/policy/permissions/required/check-required.ts';
import { sourcesIn } from './load.ts';
import { tempFolder } from './temp-folder.ts';

function sourcesWith(requirements: string, text = '') {
  const systemDir = tempFolder({ 'requirements.toml': requirements });
  return {
    ...sourcesIn(tempFolder({ 'config.toml': text }), { env: { OPENAI_API_KEY: 'k' } }),
    systemDir,
  };
}

async function summariesOf(requirements: string, text = '') {
  const sources = sourcesWith(requirements, text);
  const file = join(sources.systemDir, 'requirements.toml');
  return (await configWarnings(sources)).map(({ summary }) =>
    summary.replace(file, 'FILE').replace(/^invalid config: \S+: /, ''),
  );
}

describe('a required feature', () => {
  test.each(FEATURE_LIST.map(({ name }) => name))(
    '%s has the required value, whatever anybody sets',
    async (name) => {
      for (const required of [true, false]) {
        const sources = sourcesWith(
          `[features]\n${name} = ${required}\n`,
          `[features]\n${name} = ${!required}\n`,
        );
        const config = await loadConfig({
          ...sources,
          features: { [name]: !required },
          request: { [`features.${name}`]: !required },
        });
        expect(shownFeatures(config).find((feature) => feature.name === name)?.enabled).toBe(
          required,
        );
        expect(config.values.features).toEqual({ [name]: required });
      }
    },
  );

  test('network_proxy decides whether the network is managed, and keeps the limits of the user', async () => {
    const table =
      '[features.network_proxy]\nenabled = false\ndomains = { "bad.example" = "deny" }\n';
    const required = await loadConfig(sourcesWith('[features]\nnetwork_proxy = true\n', table));
    expect(networkPolicyRule(required)(null)?.domains).toMatchObject([{ access: 'deny' }]);
    const forbidden = await loadConfig(
      sourcesWith('[features]\nnetwork_proxy = false\n', 'features.network_proxy = true\n'),
    );
    expect(networkPolicyRule(forbidden)(null)).toBeNull();
  });

  test('guardian_approval sets no reviewer if it is forbidden, also not in a profile', async () => {
    const text = 'profile = "p"\n[profiles.p.features]\nguardian_approval = true\n';
    const config = await loadConfig(sourcesWith('[features]\nguardian_approval = false\n', text));
    expect(config.get('approvals_reviewer')).toBe('user');
  });

  test('is told where somebody has set another value', async () => {
    expect(
      await summariesOf(
        '[features]\ngoals = false\nnetwork_proxy = true\n',
        'features.goals = true\n',
      ),
    ).toEqual(['features.goals: true is not allowed by FILE, so false counts']);
    expect(
      await summariesOf(
        '[features]\nnetwork_proxy = true\n',
        '[features.network_proxy]\nenabled = false\n',
      ),
    ).toEqual(['features.network_proxy: false is not allowed by FILE, so true counts']);
    expect(
      await summariesOf(
        '[features]\nnetwork_proxy = true\n',
        '[features.network_proxy]\nmode = "full"\n',
      ),
    ).toEqual([]);
  });
});

describe('the mode of web search', () => {
  test.each([
    ['["cached"]', 'web_search = "live"', 'cached'],
    ['["indexed"]', 'web_search = "live"', 'indexed'],
    ['["indexed", "live"]', 'web_search = "cached"', null],
    ['["live"]', '', null],
    ['["indexed"]', 'sandbox_mode = "danger-full-access"', 'indexed'],
    ['["cached", "indexed"]', 'features.web_search_request = true', 'indexed'],
  ])('with %s and %j is the widest allowed one that is not wider', async (allowed, text, mode) => {
    const config = await loadConfig(
      sourcesWith(`allowed_web_search_modes = ${allowed}\n`, `${text}\n`),
    );
    const { provider } = chooseProvider(config, 'openai');
    const fullAccess = config.get('sandbox_mode') === 'danger-full-access';
    expect(webSearch(config, provider, { fullAccess })?.mode ?? null).toBe(mode);
  });
});

test.each(['auto_review', 'guardian_subagent'] as const)(
  'a limit that allows the reviewer "%s" allows both of its names',
  async (name) => {
    const config = await loadConfig(sourcesWith(`allowed_approvals_reviewers = ["${name}"]\n`));
    expect(notAllowed(config, { approvalsReviewer: 'guardian_subagent' })).toEqual([]);
    expect(notAllowed(config, { approvalsReviewer: 'auto_review' })).toEqual([]);
    const problem = expect.stringContaining('the reviewer "user" is not allowed');
    expect(notAllowed(config, { approvalsReviewer: 'user' })).toEqual([
      { setting: 'approvalsReviewer', problem },
    ]);
  },
);

test('config/read returns the values that count, with the file that requires them', async () => {
  const limits =
    'allowed_sandbox_modes = ["read-only"]\nallowed_approval_policies = ["never", "on-request"]\n[features]\ngoals = false\n';
  const sources = sourcesWith(
    `${limits}multi_agent = true\n`,
    'sandbox_mode = "danger-full-access"\napproval_policy = "on-request"\nfeatures.goals = true\n',
  );
  const { config, origins } = configReadResponse(
    await loadConfig({ ...sources, features: { hooks: false } }),
    {
      includeLayers: false,
      experimental: false,
    },
  );
  expect(config).toMatchObject({ sandbox_mode: 'read-only', approval_policy: 'on-request' });
  expect(config.features).toEqual({ goals: false, multi_agent: true, hooks: false });
  expect(
    Object.fromEntries(Object.entries(origins).map(([key, origin]) => [key, origin?.name.type])),
  ).toEqual({
    sandbox_mode: 'system',
    approval_policy: 'user',
    'features.goals': 'system',
    'features.multi_agent': 'system',
  });
  expect(origins.sandbox_mode?.name).toEqual({
    type: 'system',
    file: join(sources.systemDir, 'requirements.toml'),
  });
});

test('requirements that heddle does not enforce are told: unknown keys and features, and features that it cannot switch', async () => {
  expect(
    await summariesOf('residency = "us"\n[features]\ngoal = false\napps = true\nsteer = false\n'),
  ).toEqual([
    expect.stringMatching(
      /heddle does not enforce these requirements: residency, features\.goal \(did you mean goals\?\), features\.apps, features\.steer$/,
    ),
  ]);
});

test('a misspelt limit is told with its right name', async () => {
  const misspelt =
    'allowed_sandbox_mode = ["read-only"]\n[permissions.filesystem]\ndeny_reads = ["/x"]\n[permissions.filesystems]\na = 1\n';
  expect(await summariesOf(misspelt)).toEqual([
    expect.stringMatching(
      /requirements: allowed_sandbox_mode \(did you mean allowed_sandbox_modes\?\), permissions\.filesystems \(did you mean filesystem\?\), permissions\.filesystem\.deny_reads \(did you mean deny_read\?\)$/,
    ),
  ]);
});

test('a feature that heddle does not have is off, and one that it always has is on, so nothing is told', async () => {
  expect(await summariesOf('[features]\napps = false\nsteer = true\n')).toEqual([]);
});
