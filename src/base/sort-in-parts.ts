import type { EventLoopYield } from './event-loop-yield.ts';
import { eachNumber, inSlices, slicesOf } from './in-slices.ts';

/** Sorted at once. It takes about a millisecond. */
const PART_LENGTH = 1_000;

/**
 * Returns the items in the order of `compare`; equal ones keep theirs. Lets other work run in
 * between.
 */
export async function sortInParts<T>(
  items: readonly T[],
  compare: (one: T, other: T) => number,
  breaks: EventLoopYield,
): Promise<T[]> {
  const parts: T[][] = [];
  for await (const part of inSlices(slicesOf(items, PART_LENGTH), PART_LENGTH, breaks))
    parts.push(part.toSorted(compare));
  let sorted = parts;
  while (sorted.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < sorted.length; at += 2)
      merged.push(await merge(sorted[at] ?? [], sorted[at + 1] ?? [], { compare, breaks }));
    sorted = merged;
  }
  return sorted[0] ?? [];
}

interface Merging<T> {
  compare: (one: T, other: T) => number;
  breaks: EventLoopYield;
}

async function merge<T>(
  one: readonly T[],
  other: readonly T[],
  { compare, breaks }: Merging<T>,
): Promise<T[]> {
  const merged: T[] = [];
  let [left, right] = [0, 0];
  const take = () => {
    const takesLeft =
      right === other.length ||
      (left < one.length && compare(one[left] as T, other[right] as T) <= 0);
    merged.push((takesLeft ? one[left++] : other[right++]) as T);
  };
  await eachNumber([0, one.length + other.length], take, breaks);
  return merged;
}
