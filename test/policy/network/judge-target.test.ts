import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DomainPattern,
  matchesDomain,
  readDomainPattern,
} from '../../../src/policy/network/domain-pattern.ts';
import { judgeTarget, type TargetSituation } from '../../../src/policy/network/judge-target.ts';
import { limitedNetwork, networkLimits } from '../../../src/policy/network/network-limits.ts';
import type { NetworkPolicy } from '../../../src/policy/network/network-policy.ts';
import type { NetworkRule } from '../../../src/policy/network/network-rule.ts';
import type { NetworkTarget } from '../../../src/policy/network/network-target.ts';

const HTTPS: NetworkTarget = { host: 'api.example.com', port: 443, protocol: 'https' };
const PUBLIC = { verdict: 'allow', reaches: ['public'] };

function pattern(text: string): DomainPattern {
  const read = readDomainPattern(text);
  if (read === null) throw new Error(`${text} is no pattern`);
  return read;
}

function situation(
  domains: Record<string, 'allow' | 'deny'> = {},
  others: Partial<TargetSituation> = {},
): TargetSituation {
  const entries = Object.entries(domains).map(([text, access]) => ({
    pattern: pattern(text),
    access,
  }));
  return {
    policy: { mode: 'full', domains: entries, allowsPrivate: false, socks: true },
    approvalPolicy: 'on-request',
    rules: [],
    hasProblems: false,
    isGranted: false,
    method: null,
    ...others,
  };
}

function rule(decision: NetworkRule['decision'], others: Partial<NetworkRule> = {}): NetworkRule {
  return { host: HTTPS.host, protocol: 'https', decision, justification: null, ...others };
}

describe('a pattern of hosts', () => {
  test.each([
    ['example.com', ['example.com'], ['a.example.com', 'xexample.com', 'example.com.evil.example']],
    ['*.example.com', ['a.example.com', 'b.a.example.com'], ['example.com', 'aexample.com']],
    ['**.example.com', ['example.com', 'b.a.example.com'], ['aexample.com']],
    ['*.Bücher.example', ['a.xn--bcher-kva.example'], ['xn--bcher-kva.example']],
    ['*', ['example.com', '8.8.8.8', '::1'], []],
    ['0x7f.1', ['127.0.0.1'], ['127.0.0.2']],
  ])('%s matches', (text, yes, no) => {
    expect(yes.filter((host) => !matchesDomain(host, pattern(text)))).toEqual([]);
    expect(no.filter((host) => matchesDomain(host, pattern(text)))).toEqual([]);
  });

  test.each([
    '',
    '*.',
    '**',
    '*.*',
    'a.*.b',
    'a*',
    '***.a',
    '*.1.2.3.4',
    'https://a',
    'a:443',
    'a/b',
    '*.a\0',
  ])('%j is none', (text) => {
    expect(readDomainPattern(text)).toBeNull();
  });
});

describe('a target', () => {
  test('that nothing allows is asked about, or refused if the policy never asks', () => {
    expect(judgeTarget(HTTPS, situation())).toMatchObject({ verdict: 'ask' });
    expect(judgeTarget(HTTPS, situation({}, { approvalPolicy: 'never' }))).toMatchObject({
      verdict: 'refuse',
      by: 'notAllowed',
    });
    const granular = (sandbox_approval: boolean) => ({
      granular: { sandbox_approval, rules: true, mcp_elicitations: true },
    });
    expect(judgeTarget(HTTPS, situation({}, { approvalPolicy: granular(true) }))).toMatchObject({
      verdict: 'ask',
    });
    expect(judgeTarget(HTTPS, situation({}, { approvalPolicy: granular(false) }))).toMatchObject({
      verdict: 'refuse',
      by: 'notAllowed',
    });
  });

  test('that a rule or an unreadable rules file puts in question needs the kind `rules`, and if nothing allows it `sandbox_approval`, too', () => {
    const asks = (
      domains: Record<string, 'allow'>,
      kinds: { rules: boolean; sandbox_approval: boolean },
    ) =>
      [{ rules: [rule('prompt')] }, { hasProblems: true }].map((doubt) => {
        const approvalPolicy = { granular: { mcp_elicitations: true, ...kinds } };
        return judgeTarget(HTTPS, situation(domains, { approvalPolicy, ...doubt })).verdict;
      });
    expect(asks({ '*': 'allow' }, { rules: true, sandbox_approval: false })).toEqual([
      'ask',
      'ask',
    ]);
    expect(asks({ '*': 'allow' }, { rules: false, sandbox_approval: true })).toEqual([
      'refuse',
      'refuse',
    ]);
    expect(asks({}, { rules: true, sandbox_approval: false })).toEqual(['refuse', 'refuse']);
    expect(asks({}, { rules: true, sandbox_approval: true })).toEqual(['ask', 'ask']);
  });

  test('that is asked about would be allowed by a rule, unless another one asks, or a rule cannot cover its port', () => {
    const settles = (target: NetworkTarget, others: Partial<TargetSituation>) =>
      judgeTarget(target, situation({}, others));
    expect(settles(HTTPS, {})).toMatchObject({ settles: true });
    expect(settles({ ...HTTPS, port: 22, protocol: 'socks5Tcp' }, {})).toMatchObject({
      settles: true,
    });
    expect(settles({ ...HTTPS, port: 22 }, {})).toMatchObject({ settles: false });
    expect(settles(HTTPS, { rules: [rule('prompt')] })).toMatchObject({ settles: false });
    expect(settles(HTTPS, { hasProblems: true })).toMatchObject({ settles: false });
  });

  test('that the configuration allows passes, on every port', () => {
    const allowed = situation({ '**.example.com': 'allow' }, { approvalPolicy: 'never' });
    expect(judgeTarget(HTTPS, allowed)).toEqual(PUBLIC);
    expect(judgeTarget({ ...HTTPS, port: 8443 }, allowed)).toEqual(PUBLIC);
  });

  test('that the configuration denies is refused, whatever allows it', () => {
    const denied = situation(
      { '*': 'allow', '*.example.com': 'deny' },
      { isGranted: true, rules: [rule('allow')] },
    );
    expect(judgeTarget(HTTPS, denied)).toMatchObject({ verdict: 'refuse', by: 'denied' });
  });

  test('follows the rules: deny for all protocols, allow for the port of its protocol', () => {
    const never = { approvalPolicy: 'never' } as const;
    expect(judgeTarget(HTTPS, situation({}, { ...never, rules: [rule('allow')] }))).toEqual(PUBLIC);
    expect(
      judgeTarget({ ...HTTPS, port: 22 }, situation({}, { rules: [rule('allow')] })),
    ).toMatchObject({ verdict: 'ask' });
    expect(
      judgeTarget({ ...HTTPS, protocol: 'socks5Tcp' }, situation({}, { rules: [rule('allow')] })),
    ).toMatchObject({ verdict: 'ask' });
    const denies = [rule('allow'), rule('deny', { protocol: 'http', justification: 'no uploads' })];
    const refused = judgeTarget(
      HTTPS,
      situation({ '*': 'allow' }, { rules: denies, isGranted: true }),
    );
    expect(refused).toEqual({
      verdict: 'refuse',
      by: 'denied',
      reason: 'A rule denies api.example.com (no uploads).',
    });
    expect(
      judgeTarget(HTTPS, situation({ '*': 'allow' }, { rules: [rule('prompt')] })),
    ).toMatchObject({ verdict: 'ask' });
    expect(
      judgeTarget(HTTPS, situation({ '*': 'allow' }, { rules: [rule('prompt')], isGranted: true })),
    ).toEqual(PUBLIC);
  });

  test('is asked about while a rules file cannot be read', () => {
    expect(judgeTarget(HTTPS, situation({ '*': 'allow' }, { hasProblems: true }))).toMatchObject({
      verdict: 'ask',
    });
  });

  test('in limited mode is a plain request that changes nothing', () => {
    const limited = (method: string | null) => {
      const { policy, ...others } = situation({ '*': 'allow' });
      return judgeTarget(HTTPS, {
        ...others,
        policy: { ...policy, mode: 'limited' },
        method,
        isGranted: true,
      });
    };
    expect(limited('GET')).toEqual(PUBLIC);
    for (const method of ['POST', 'get', null])
      expect(limited(method)).toMatchObject({ verdict: 'refuse', by: 'mode' });
  });
});

describe('a local address', () => {
  const at = (host: string): NetworkTarget => ({ ...HTTPS, host });

  test.each([
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    'fe80::1',
    'localhost',
    'a.localhost',
  ])('%s is refused without a question, whatever allows it in general', (host) => {
    expect(judgeTarget(at(host), situation({ '*': 'allow' }, { isGranted: true }))).toMatchObject({
      verdict: 'refuse',
      by: 'local',
    });
  });

  test('is open if the configuration names exactly it', () => {
    expect(judgeTarget(at('127.0.0.1'), situation({ '127.0.0.1': 'allow' }))).toMatchObject({
      verdict: 'allow',
    });
    expect(
      judgeTarget(at('169.254.169.254'), situation({ '169.254.169.254': 'allow' })),
    ).toMatchObject({ verdict: 'allow' });
    expect(judgeTarget(at('localhost'), situation({ localhost: 'allow' }))).toEqual({
      verdict: 'allow',
      reaches: ['public', 'private'],
    });
    expect(judgeTarget(at('a.localhost'), situation({ '*.localhost': 'allow' }))).toMatchObject({
      verdict: 'refuse',
      by: 'local',
    });
  });

  test('is open if a rule allows exactly it, for the port of the rule', () => {
    for (const host of ['10.0.0.5', '::1', '169.254.169.254', 'localhost']) {
      const ruled = situation({}, { rules: [rule('allow', { host })], approvalPolicy: 'never' });
      expect(judgeTarget(at(host), ruled)).toMatchObject({
        verdict: 'allow',
        reaches: expect.arrayContaining(['private']),
      });
      expect(judgeTarget({ ...at(host), port: 22 }, ruled)).toMatchObject({
        verdict: 'refuse',
        by: 'local',
      });
      expect(judgeTarget(at(host), { ...ruled, ...situation({ [host]: 'deny' }) })).toMatchObject({
        verdict: 'refuse',
        by: 'denied',
      });
    }
  });

  test('is not opened by the name that leads to it', () => {
    expect(judgeTarget(at('intranet.example'), situation({ 'intranet.example': 'allow' }))).toEqual(
      PUBLIC,
    );
  });

  test('is open to allowed hosts if the configuration allows local ones, but not a reserved one', () => {
    const local = (domains: Record<string, 'allow'>) => {
      const { policy, ...others } = situation(domains);
      return { ...others, policy: { ...policy, allowsPrivate: true } };
    };
    expect(judgeTarget(at('10.0.0.1'), local({ '*': 'allow' }))).toEqual({
      verdict: 'allow',
      reaches: ['public', 'private'],
    });
    expect(judgeTarget(at('10.0.0.1'), local({}))).toMatchObject({ verdict: 'ask' });
    expect(judgeTarget(at('169.254.169.254'), local({ '*': 'allow' }))).toMatchObject({
      verdict: 'refuse',
      by: 'local',
    });
  });
});

describe('of several policies', () => {
  const policy = (
    domains: Record<string, 'allow' | 'deny'>,
    others: Partial<NetworkPolicy> = {},
  ) => ({
    ...situation(domains).policy,
    ...others,
  });
  const both = (one: NetworkPolicy, other: NetworkPolicy, others: Partial<TargetSituation> = {}) =>
    judgeTarget(HTTPS, situation({}, { policy: { ...one, also: [other] }, ...others }));

  test('each has to allow a host', () => {
    expect(both(policy({ '*': 'allow' }), policy({ 'api.example.com': 'allow' }))).toEqual(PUBLIC);
    expect(both(policy({ '*': 'allow' }), policy({}))).toMatchObject({ verdict: 'ask' });
    expect(both(policy({}), policy({ '*': 'allow' }), { approvalPolicy: 'never' })).toMatchObject({
      verdict: 'refuse',
      by: 'notAllowed',
    });
    expect(both(policy({ '*': 'allow' }), policy({ '*.example.com': 'deny' }))).toMatchObject({
      verdict: 'refuse',
      by: 'denied',
    });
  });

  test('each has to open local addresses', () => {
    const [all, local] = [
      policy({ '*': 'allow' }),
      policy({ '*': 'allow' }, { allowsPrivate: true }),
    ];
    expect(both(local, all)).toEqual(PUBLIC);
    expect(both(local, local)).toEqual({ verdict: 'allow', reaches: ['public', 'private'] });
    expect(
      judgeTarget(
        { ...HTTPS, host: '10.0.0.1' },
        situation({}, { policy: { ...policy({ '10.0.0.1': 'allow' }), also: [all] } }),
      ),
    ).toMatchObject({
      by: 'local',
    });
  });

  test('each is kept as plain data', () => {
    const one = policy(
      { '*.Bücher.example': 'allow', '**.b.example': 'deny', '*': 'allow', '::1': 'allow' },
      { mode: 'limited', socks: false },
    );
    const other = policy({ __proto__: 'deny' }, { allowsPrivate: true });
    const limits = JSON.parse(JSON.stringify(networkLimits({ ...one, also: [other] })));
    expect(limitedNetwork(null, limits)).toEqual({ ...one, also: [other] });
    expect(limitedNetwork(other, limits.slice(0, 1))).toEqual({
      ...other,
      socks: false,
      also: [one],
    });
    expect([networkLimits(null), limitedNetwork(null, [])]).toEqual([[], null]);
  });
});

test('A denied host never passes, whatever else holds (seeded)', () => {
  const access = fc.constantFrom<'allow' | 'deny'>('allow', 'deny');
  const patterns = fc.dictionary(
    fc.constantFrom(
      '*',
      'example.com',
      '*.example.com',
      '**.example.com',
      'api.example.com',
      '10.0.0.1',
    ),
    access,
  );
  const hosts = fc.constantFrom(
    'example.com',
    'api.example.com',
    'a.api.example.com',
    '10.0.0.1',
    'other.example',
  );
  fc.assert(
    fc.property(
      patterns,
      hosts,
      fc.boolean(),
      fc.constantFrom<NetworkRule['decision']>('allow', 'prompt', 'deny'),
      (domains, host, isGranted, decision) => {
        const found = situation(domains, {
          isGranted,
          rules: [rule(decision, { host })],
          approvalPolicy: 'never',
        });
        const { verdict } = judgeTarget({ ...HTTPS, host }, found);
        const isDenied = found.policy.domains.some(
          (entry) => entry.access === 'deny' && matchesDomain(host, entry.pattern),
        );
        if (isDenied || decision === 'deny') expect(verdict).toBe('refuse');
        if (host === '10.0.0.1' && domains[host] !== 'allow' && decision !== 'allow')
          expect(verdict).toBe('refuse');
      },
    ),
    { seed: 7, numRuns: 2000 },
  );
});
