import { plainModelName } from './known-context-window.ts';

/**
 * The effort with which well-known models are asked if nobody has chosen one. The first pattern
 * that fits the name counts.
 */
const EFFORTS: readonly [pattern: RegExp, effort: 'low' | 'medium' | null][] = [
  [/^gpt-[56].*-(chat|pro)(-|$)/, null],
  [/^gpt-6\.1-/, 'low'],
  [/^gpt-6-astra(-|$)/, 'low'],
  [/^gpt-5\.6-sol(-|$)/, 'low'],
  [/^gpt-[56]([.-]|$)/, 'medium'],
];

/** Returns the effort of a well-known model, or null. */
export function knownDefaultEffort(model: string): 'low' | 'medium' | null {
  const name = plainModelName(model);
  return EFFORTS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
