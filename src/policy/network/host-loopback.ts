import type { NetworkPolicy } from './network-policy.ts';

/** The names of the loopback. In a managed network, a command has a loopback of its own. */
export const LOOPBACK = ['localhost', '127.0.0.1', '::1'] as const;

/**
 * Returns the names that lead to the loopback of this machine, not to that of the command: those
 * that a policy allows by exactly this text.
 */
export function hostLoopback(policy: NetworkPolicy | null): string[] {
  if (policy === null) return [];
  const policies = [policy, ...(policy.also ?? [])];
  return LOOPBACK.filter((host) => policies.every((each) => allowsExactly(each, host)));
}

/** Whether the policy allows a host by exactly this text, not by a pattern that matches it. */
export function allowsExactly({ domains }: NetworkPolicy, host: string): boolean {
  return domains.some(
    ({ pattern, access }) => access === 'allow' && pattern.type === 'host' && pattern.host === host,
  );
}
