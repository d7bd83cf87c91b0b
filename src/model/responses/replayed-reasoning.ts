import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { OptionalParameter } from '../http/parameters/optional-parameter.ts';
import type { SentSettings } from '../http/parameters/sent-settings.ts';

const WITHOUT_IDS = 'input.reasoning, without ids';
const REASONING = 'input.reasoning';

/**
 * How providers ask for the id of an item. `invalid_payload` is all that some deployments of Azure
 * say.
 */
const MISSING_ID = /\binput\[\d+\](?:\.id\b|\W+missing required field\W+id\b)|\binvalid_payload\b/i;
/**
 * How providers refuse reasoning that they cannot decrypt, do not find, or get without what
 * followed it.
 */
const UNUSABLE =
  /\binvalid_encrypted_content\b|\bencrypted content\b.*\b(?:could not|cannot|can't|not) be\b|\bitem with id\b.*\bnot found\b|\bof type '?reasoning'?\b|\bcontinuation identit/i;

/**
 * The forms in which the reasoning of earlier responses is sent back, in the order in which they
 * are given up: without ids, with them, not at all. A provider may have written none of it, because
 * the thread had another provider, or the key was another one.
 */
export const REPLAYED_REASONING: readonly OptionalParameter[] = [
  {
    name: WITHOUT_IDS,
    named: MISSING_ID,
    value: ({ input }) => input.some(isEncrypted) || undefined,
    loss: null,
  },
  {
    name: REASONING,
    named: new RegExp(`${MISSING_ID.source}|${UNUSABLE.source}`, 'i'),
    // The loss of one thread need not be that of others.
    value: ({ input, promptCacheKey }) => (input.some(isEncrypted) ? promptCacheKey : undefined),
    loss: 'The model does not get back what it has thought before.',
  },
];

/** Whether an item is reasoning that is sent back in its encrypted form. */
export function isEncrypted(item: ResponseItem): boolean {
  return (
    item.type === 'reasoning' &&
    typeof item.encrypted_content === 'string' &&
    item.encrypted_content !== ''
  );
}

/** The form in which encrypted reasoning is sent back. */
export function sentReasoning({ leftOut }: SentSettings): 'withoutIds' | 'withIds' | 'none' {
  if (leftOut.has(REASONING)) return 'none';
  return leftOut.has(WITHOUT_IDS) ? 'withIds' : 'withoutIds';
}
