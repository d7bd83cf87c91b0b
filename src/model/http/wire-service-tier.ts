/** The protocol says `fast` where the API says `priority`. */
export function wireServiceTier(tier: string): string {
  return tier === 'fast' ? 'priority' : tier;
}
