import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { NetworkRule } from '../../../src/policy/network/network-rule.ts';
import type { NetworkTarget } from '../../../src/policy/network/network-target.ts';
import { parseRules } from '../../../src/policy/rules/parse-rules.ts';
import { storeNetworkRule } from '../../../src/tools/command/network/store-network-rule.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const TARGET: NetworkTarget = { host: 'a.example', port: 443, protocol: 'https' };
const ALLOW: NetworkRule = { host: 'A.example.', protocol: 'https', decision: 'allow', justification: null };

test('a rule about a host is stored once, and read again', async () => {
  const home = tempFolder({});
  expect(storeNetworkRule(home, ALLOW, TARGET)).toBeNull();
  expect(storeNetworkRule(home, ALLOW, TARGET)).toBeNull();
  const text = readFileSync(join(home, 'rules', 'default.rules'), 'utf8');
  expect(text).toBe('network_rule(host="a.example", protocol="https", decision="allow")\n');
  expect((await parseRules(text, 'default.rules')).networkRules).toEqual([{ ...ALLOW, host: 'a.example' }]);
});

test('a rule for another host or another port than the question was about is not stored', () => {
  const home = tempFolder({});
  expect(storeNetworkRule(home, { ...ALLOW, host: '*.example' }, TARGET)).toMatch(/about a\.example/);
  expect(storeNetworkRule(home, { ...ALLOW, host: 'b.example' }, TARGET)).toMatch(/about a\.example/);
  expect(storeNetworkRule(home, ALLOW, { ...TARGET, port: 22 })).toMatch(/port 22/);
});

test('a home that cannot be written is a problem for the user', () => {
  expect(storeNetworkRule('/proc/none', ALLOW, TARGET)).toMatch(/could not be stored/);
});
