const EDITS_MAX = 2;
// With two edits, a short word becomes many other words.
const SUGGESTED_LENGTH_MIN = 5;

/** Returns the key of `knownKeys` that an unknown key most resembles. Returns null for known keys, and if none is similar. */
export function suggestKey(key: string, knownKeys: readonly string[]): string | null {
  if (knownKeys.includes(key)) return null;
  let best: string | null = null;
  let fewest = EDITS_MAX + 1;
  for (const known of knownKeys) {
    if (known.length < SUGGESTED_LENGTH_MIN || Math.abs(known.length - key.length) > EDITS_MAX) continue;
    const edits = editDistance(known, key);
    if (edits >= fewest) continue;
    best = known;
    fewest = edits;
  }
  return best;
}

/** Counts the insertions, deletions and replacements that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
