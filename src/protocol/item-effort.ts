/** The efforts that every client knows. Older clients cannot read an item with any other. */
const ITEM_EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

/** The effort as items show it; null if clients may not know it. */
export function itemEffort(effort: string | null): string | null {
  return effort !== null && ITEM_EFFORTS.includes(effort) ? effort : null;
}
