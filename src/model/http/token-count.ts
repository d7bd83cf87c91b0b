/** A count of tokens as a provider sent it; null if it is not a whole number of 0 or more. */
export function tokenCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
