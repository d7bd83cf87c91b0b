import type { Clock } from '../base/clock.ts';
import { ClosingPrograms } from './closing-programs.ts';
import { PromptBudget } from './prompt/prompt-budget.ts';

/** The limits that all threads of a server share. */
export interface ServerLimits {
  /** The memory of their prompts. */
  promptBudget: PromptBudget;
  closingPrograms: ClosingPrograms;
}

export function serverLimits(clock: Clock): ServerLimits {
  return { promptBudget: new PromptBudget(), closingPrograms: new ClosingPrograms(clock) };
}
