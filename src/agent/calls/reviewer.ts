import type { Ask, OpenItem, Verdict } from '../../tools/action.ts';

/** Decides about what policy wants to be asked. */
export interface Reviewer {
  /**
   * Decides, or gives null to leave the question to the next reviewer. `show` begins the item that the question is about, if it has
   * one and has not begun. Rejects only with the store's error.
   */
  review(ask: Ask, show: () => Promise<OpenItem | null>, signal: AbortSignal): Promise<Verdict | null>;
}
