import type { Clock } from '../base/clock.ts';
import { LastPrograms } from './last-programs.ts';
import { PromptBudget } from './prompt/prompt-budget.ts';

/** The limits that all threads of a server share. */
export interface SharedLimits {
  /** The memory of their prompts. */
  promptBudget: PromptBudget;
  lastPrograms: LastPrograms;
}

export function sharedLimits(clock: Clock): SharedLimits {
  return { promptBudget: new PromptBudget(), lastPrograms: new LastPrograms(clock) };
}
