import { cutText } from '../../base/text/cut-text.ts';

/**
 * The most keys that are told one by one: a message for each takes time, and a file can have
 * thousands.
 */
const TOLD_MAX = 10;
/** The most characters of the names of the others. */
const NAMES_LENGTH_MAX = 1000;

interface KeyPath {
  path: readonly string[];
}

/**
 * Returns what `each` says about the first keys, and what `rest` says about all others, which it
 * gets as one text.
 */
export function tellSome<Key extends KeyPath, Told>(
  keys: readonly Key[],
  { each, rest }: { each: (key: Key) => Told; rest: (names: string, first: Key) => Told },
): Told[] {
  const others = keys.slice(TOLD_MAX);
  const [first] = others;
  const told = keys.slice(0, TOLD_MAX).map(each);
  if (first === undefined) return told;
  const names = others.map(({ path }) => path.join('.')).join(', ');
  return [
    ...told,
    rest(
      names.length > NAMES_LENGTH_MAX
        ? `${cutText(names, NAMES_LENGTH_MAX)}… (${others.length} keys)`
        : names,
      first,
    ),
  ];
}
