import { describe, expect, test } from 'vitest';
import { networkPolicyRule } from '../../../src/policy/network/network-policy-rule.ts';
import { readNetworkTable } from '../../../src/policy/network/read-network-table.ts';
import { readProfileTable } from '../../../src/policy/permissions/profile-table.ts';
import { load } from '../../config/load.ts';

const OPEN = { mode: 'full', domains: [], allowsPrivate: false, socks: true };

async function rule(toml: string) {
  const config = await load(toml);
  const profile = config.keys(['permissions']).includes('p')
    ? readNetworkTable(config, ['permissions', 'p', 'network'], ['enabled'])
    : null;
  return networkPolicyRule(config)(profile);
}

describe('the network is', () => {
  test.each([
    ['not managed by default', '', null],
    ['managed by the feature', '[features]\nnetwork_proxy = true', OPEN],
    ['not managed without the feature', '[features]\nnetwork_proxy = false', null],
    [
      "managed by the feature's table",
      '[features.network_proxy]\nmode = "limited"',
      { ...OPEN, mode: 'limited' },
    ],
    [
      'not managed by a table that is off',
      '[features.network_proxy]\nenabled = false\nmode = "limited"',
      null,
    ],
    [
      'not managed by a profile that only allows it',
      '[permissions.p.network]\nenabled = true',
      null,
    ],
    [
      'managed by a profile with a limit',
      '[permissions.p.network]\nenabled = true\nenable_socks5 = false',
      { ...OPEN, socks: false },
    ],
    [
      'managed by a profile that allows no host',
      '[permissions.p.network]\nenabled = true\n[permissions.p.network.domains]',
      OPEN,
    ],
    [
      'managed by a limit that the feature does not switch on',
      '[features]\nnetwork_proxy = false\n[permissions.p.network]\nmode = "limited"',
      { ...OPEN, mode: 'limited' },
    ],
  ])('%s', async (_what, toml, policy) => {
    expect(await rule(toml)).toEqual(policy);
  });

  test('managed without a profile that can be read, with everything to be asked about', async () => {
    expect(networkPolicyRule(await load(''))('unknown')).toEqual(OPEN);
  });

  test('managed by both tables: of each setting the stricter one counts, and all entries', async () => {
    const strict = (table: string) => `[${table}]
mode = "limited"
allow_local_binding = false
enable_socks5 = false
[${table}.domains]
"a.example" = "deny"
"b.example" = "allow"
`;
    const loose = (table: string) => `[${table}]
mode = "full"
allow_local_binding = true
enable_socks5 = true
[${table}.domains]
"A.example." = "allow"
"**.c.example" = "allow"
`;
    const entries = [
      { pattern: { type: 'host', host: 'a.example' }, access: 'deny' },
      { pattern: { type: 'host', host: 'b.example' }, access: 'allow' },
      { pattern: { type: 'below', domain: 'c.example', itself: true }, access: 'allow' },
    ];
    const [profile, feature] = ['permissions.p.network', 'features.network_proxy'];
    for (const toml of [strict(profile) + loose(feature), loose(profile) + strict(feature)]) {
      const { domains, ...others } = (await rule(toml)) ?? OPEN;
      expect(others).toEqual({ mode: 'limited', allowsPrivate: false, socks: false });
      expect(domains).toHaveLength(3);
      expect(domains).toEqual(expect.arrayContaining(entries));
    }
  });

  test('managed by one of them, if the other says nothing about a setting', async () => {
    const profile = '[permissions.p.network]\nmode = "full"\nallow_local_binding = true\n';
    expect(await rule(`${profile}[features.network_proxy.domains]\n`)).toEqual({
      ...OPEN,
      allowsPrivate: true,
    });
  });

  test.each([
    ['"A.example" = "deny"\n"a.example." = "allow"', 'deny'],
    ['"a.example" = "allow"\n"A.EXAMPLE" = "deny"', 'deny'],
  ])('denied a host whose spellings have different entries: %s', async (entries, access) => {
    const { domains } = (await rule(`[features.network_proxy.domains]\n${entries}\n`)) ?? OPEN;
    expect(domains).toEqual([{ pattern: { type: 'host', host: 'a.example' }, access }]);
  });

  test('that of the profile which extends another one, whatever the spelling of its hosts', async () => {
    const config = await load(`[permissions.base.network]
enabled = true
[permissions.base.network.domains]
"a.example" = "deny"
"b.example" = "allow"
[permissions.p]
extends = "base"
[permissions.p.network.domains]
"A.example." = "allow"
`);
    expect(
      networkPolicyRule(config)(readProfileTable(config, 'p').network.limits)?.domains,
    ).toEqual([
      { pattern: { type: 'host', host: 'a.example' }, access: 'allow' },
      { pattern: { type: 'host', host: 'b.example' }, access: 'allow' },
    ]);
  });
});

describe('a setting that heddle would not follow is refused', () => {
  test.each([
    ['mode = "open"', /network_proxy\.mode.*expected one of "full", "limited"/],
    ['domains = ["a.example"]', /network_proxy\.domains.*expected a table/],
    ['domains = { "a.example:443" = "allow" }', /expected a host, or a pattern/],
    ['domains = { "a.example" = "ask" }', /expected one of "allow", "deny"/],
    ['domains = { "*" = "deny" }', /can only be allowed/],
    ['proxy_url = "http://127.0.0.1:1"', /proxy_url.*a proxy of its own/],
    ['allow_upstream_proxy = true', /allow_upstream_proxy.*directly/],
    ['mitm = true', /mitm/],
    ['alow_local_binding = true', /unknown key/],
  ])('%s', async (line, problem) => {
    await expect(rule(`[features.network_proxy]\n${line}`)).rejects.toThrow(problem);
  });

  test('unless it is off', async () => {
    expect(
      await rule(
        '[features.network_proxy]\nallow_upstream_proxy = false\nmitm = false\nenable_socks5_udp = false',
      ),
    ).toEqual(OPEN);
  });
});
