import { Places } from '../base/places.ts';
import { PromptBudget } from './prompt/prompt-budget.ts';

/** How many threads that are closed run programs at a time. */
const CLOSING_MAX = 32;

/** The limits that all threads of a server share. */
export interface SharedLimits {
  /** The memory of their prompts. */
  promptBudget: PromptBudget;
  /** The places for programs that run when threads are closed. */
  closingPlaces: Places;
}

export function sharedLimits(): SharedLimits {
  return { promptBudget: new PromptBudget(), closingPlaces: new Places(CLOSING_MAX) };
}
