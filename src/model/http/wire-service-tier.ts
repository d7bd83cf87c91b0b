/**
 * Returns the API's name of a service tier. The tier `fast` of the protocol is `priority` in the
 * API.
 */
export function wireServiceTier(tier: string): string {
  return tier === 'fast' ? 'priority' : tier;
}
