import { suggestKey } from '../../base/text/suggest-key.ts';
import { valueMeant } from './command-hint.ts';
import { listed } from './listed.ts';

/**
 * Says that a value is none of the valid ones, which one is probably meant, and all of them. Null:
 * it is valid. `what`: where it is given.
 */
export function choiceProblem(
  what: string,
  value: string,
  choices: readonly string[],
): string | null {
  if (choices.includes(value)) return null;
  const meant = valueMeant(value, choices) ?? suggestKey(value, choices);
  return `${what} ${value}: expected ${listed(choices)}${meant === null ? '' : `: did you mean ${meant}?`}`;
}
