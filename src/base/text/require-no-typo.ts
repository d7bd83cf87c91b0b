import { suggestKey } from './suggest-key.ts';

/**
 * Throws a TypeError of one line if the name is not known, but resembles a known one: it would
 * match nothing, in silence. Other names are accepted, because a newer server may have them.
 */
export function requireNoTypo(place: string, name: string, known: readonly string[]): void {
  const nearest = suggestKey(name, known);
  if (nearest !== null)
    throw new TypeError(
      `${place}: unknown method ${JSON.stringify(name)}: did you mean ${nearest}?`,
    );
}
