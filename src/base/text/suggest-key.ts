const EDITS_MAX = 2;
/** With two edits, a shorter word becomes many other words. */
const TWO_EDITS_LENGTH_MIN = 5;
const SUGGESTED_LENGTH_MIN = 3;
const START_LENGTH_MIN = 5;
/** Clients name methods and providers in texts of any length. */
const KEY_LENGTH_MAX = 200;

/**
 * Returns the key of `knownKeys` that an unknown key most resembles. Returns null for known keys,
 * and if none is similar. Keys that differ only in case, hyphens and underscores are similar, such
 * as `approval_policy` and `approvalPolicy`. So are keys of which one begins with all words of the
 * other, such as `sandbox` and `sandbox_mode`, if only one key has so few other words. Nothing is
 * similar to a text of more than 200 characters.
 */
export function suggestKey(key: string, knownKeys: readonly string[]): string | null {
  if (key.length > KEY_LENGTH_MAX || knownKeys.includes(key)) return null;
  const wanted = plain(key);
  let best: string | null = null;
  let fewest = EDITS_MAX + 1;
  for (const known of knownKeys) {
    const word = plain(known);
    const editsMax = word.length < TWO_EDITS_LENGTH_MIN ? 1 : EDITS_MAX;
    if (word.length < SUGGESTED_LENGTH_MIN || Math.abs(word.length - wanted.length) > editsMax)
      continue;
    const edits = editDistance(word, wanted);
    if (edits >= fewest || edits > editsMax) continue;
    best = known;
    fewest = edits;
  }
  return best ?? keyWithSameStart(key, knownKeys);
}

/**
 * The only known key whose words are the first ones of the key, or the other way round, with the
 * fewest words that the other lacks.
 */
function keyWithSameStart(key: string, knownKeys: readonly string[]): string | null {
  const wanted = wordsOf(key);
  const more = knownKeys.flatMap((known) => {
    const words = wordsOf(known);
    const [short, long] = words.length < wanted.length ? [words, wanted] : [wanted, words];
    const isStart =
      short.join('').length >= START_LENGTH_MIN &&
      short.every((word, index) => word === long[index]);
    return isStart ? [{ known, count: long.length - short.length }] : [];
  });
  const fewest = Math.min(...more.map(({ count }) => count));
  const [found, ...others] = more.filter(({ count }) => count === fewest);
  return found === undefined || others.length > 0 ? null : found.known;
}

function wordsOf(key: string): string[] {
  return key.split(/[-_]|(?<=[a-z\d])(?=[A-Z])/).map((word) => word.toLowerCase());
}

function plain(key: string): string {
  return key.replace(/[-_]/g, '').toLowerCase();
}

/**
 * Counts the insertions, deletions, replacements and swaps of neighbours that turn one word into
 * the other.
 */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
