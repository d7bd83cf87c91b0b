import { type NetworkRule, RULE_PROTOCOLS, type RuleProtocol } from '../network/network-rule.ts';
import { readHost } from '../network/read-host.ts';
import type { RuleValue } from './rule-reader.ts';

const ARGUMENTS: ReadonlySet<string> = new Set(['host', 'protocol', 'decision', 'justification']);
const PROTOCOLS: ReadonlyMap<string, RuleProtocol> = new Map([
  ...RULE_PROTOCOLS.map((name): [string, RuleProtocol] => [name, name]),
  ['https_connect', 'https'],
  ['http-connect', 'https'],
]);
const DECISIONS: ReadonlyMap<string, NetworkRule['decision']> = new Map([
  ['allow', 'allow'],
  ['prompt', 'prompt'],
  ['deny', 'deny'],
  ['forbidden', 'deny'],
]);

/** Reads the arguments of a `network_rule`. Throws a SyntaxError that says what is wrong. */
export function readNetworkRule(args: ReadonlyMap<string, RuleValue>): NetworkRule {
  for (const name of args.keys())
    if (!ARGUMENTS.has(name)) throw new SyntaxError(`network_rule has no argument ${name}`);
  const host = readHost(text(args, 'host'));
  if (host === null)
    throw new SyntaxError(
      'network_rule: host must be a host name or an IP address, without a port and without wildcards',
    );
  const protocol = PROTOCOLS.get(text(args, 'protocol'));
  if (protocol === undefined)
    throw new SyntaxError(`network_rule: protocol must be one of ${RULE_PROTOCOLS.join(', ')}`);
  const decision = DECISIONS.get(text(args, 'decision'));
  if (decision === undefined)
    throw new SyntaxError('network_rule: decision must be "allow", "prompt" or "deny"');
  return {
    host,
    protocol,
    decision,
    justification: args.has('justification') ? text(args, 'justification') : null,
  };
}

/** Returns the line of a rules file for a rule. */
export function networkRuleLine({ host, protocol, decision, justification }: NetworkRule): string {
  const reason = justification === null ? '' : `, justification=${JSON.stringify(justification)}`;
  return `network_rule(host=${JSON.stringify(host)}, protocol="${protocol}", decision="${decision}"${reason})`;
}

function text(args: ReadonlyMap<string, RuleValue>, name: string): string {
  const value = args.get(name);
  if (typeof value !== 'string') throw new SyntaxError(`network_rule: ${name} must be a string`);
  return value;
}
