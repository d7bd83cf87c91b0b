import type { NetworkLimits } from '../../config/inherited-limits.ts';
import { patternText, readDomainPattern } from './domain-pattern.ts';
import type { NetworkPolicy } from './network-policy.ts';

/** Returns a policy, and those that limit it, as plain data. Empty: the network is not managed. */
export function networkLimits(policy: NetworkPolicy | null): NetworkLimits[] {
  if (policy === null) return [];
  return [policy, ...(policy.also ?? [])].map(({ mode, domains, allowsPrivate, socks }) => ({
    mode,
    domains: Object.fromEntries(
      domains.map(({ pattern, access }) => [patternText(pattern), access]),
    ),
    allowsPrivate,
    socks,
  }));
}

/**
 * Returns the policy that allows only what a policy and all of the limits allow. Null: there is
 * neither.
 */
export function limitedNetwork(
  policy: NetworkPolicy | null,
  limits: readonly NetworkLimits[],
): NetworkPolicy | null {
  const [first, ...also] = [...(policy === null ? [] : [policy]), ...limits.map(policyOf)];
  if (first === undefined || also.length === 0) return first ?? null;
  return { ...first, socks: first.socks && also.every(({ socks }) => socks), also };
}

function policyOf({ domains, ...others }: NetworkLimits): NetworkPolicy {
  const entries = Object.entries(domains).map(([text, access]) => {
    const pattern = readDomainPattern(text);
    if (pattern === null)
      throw new Error(
        `the limits of a network have the pattern ${JSON.stringify(text)}, which is invalid`,
      );
    return { pattern, access };
  });
  return { ...others, domains: entries };
}
