import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NetworkRule } from '../../../src/policy/network/network-rule.ts';
import type { NetworkTarget } from '../../../src/policy/network/network-target.ts';
import { parseRules } from '../../../src/policy/rules/parse-rules.ts';
import { storeNetworkRule } from '../../../src/tools/command/network/store-network-rule.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const TARGET: NetworkTarget = { host: 'a.example', port: 443, protocol: 'https' };
const ASKED = { target: TARGET, settles: true };
const ALLOW: NetworkRule = {
  host: 'A.example.',
  protocol: 'https',
  decision: 'allow',
  justification: null,
};

test('a rule about a host is stored once, and read again', async () => {
  const home = tempFolder({});
  expect(storeNetworkRule(home, ALLOW, ASKED)).toBeNull();
  expect(storeNetworkRule(home, ALLOW, ASKED)).toBeNull();
  const text = readFileSync(join(home, 'rules', 'default.rules'), 'utf8');
  expect(text).toBe('network_rule(host="a.example", protocol="https", decision="allow")\n');
  expect((await parseRules(text, 'default.rules')).networkRules).toEqual([
    { ...ALLOW, host: 'a.example' },
  ]);
});

test('a rule for another host or another port than the question was about is not stored', () => {
  const home = tempFolder({});
  expect(storeNetworkRule(home, { ...ALLOW, host: '*.example' }, ASKED)).toMatch(
    /about a\.example/,
  );
  expect(storeNetworkRule(home, { ...ALLOW, host: 'b.example' }, ASKED)).toMatch(
    /about a\.example/,
  );
  expect(
    storeNetworkRule(home, ALLOW, { target: { ...TARGET, port: 22 }, settles: false }),
  ).toMatch(/port 22/);
});

test('a rule that would not allow the host is not stored, one that denies it is', () => {
  const home = tempFolder({});
  const asked = { target: TARGET, settles: false };
  expect(storeNetworkRule(home, ALLOW, asked)).toMatch(
    /^The rule was not stored: it would not allow a\.example, because another rule/,
  );
  expect(storeNetworkRule(home, { ...ALLOW, decision: 'deny' }, asked)).toBeNull();
});

test('a home that cannot be written is a problem for the user', () => {
  expect(storeNetworkRule('/proc/none', ALLOW, ASKED)).toMatch(/could not be stored/);
});
