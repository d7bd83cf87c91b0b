import type { JsonObject } from '../base/json-value.ts';
import type { HookEffect } from './hook-result.ts';

/** The decision of all hooks of one event together. */
export interface MergedEffects {
  /** The reasons of those that refuse, in the order of the hooks. */
  refusals: readonly { reason: string; runId: string }[];
  stop: string | null;
  isAllowed: boolean;
  endsTurn: boolean;
  ask: string | null;
  /** The last one counts. */
  updatedInput: JsonObject | null;
  contexts: readonly string[];
}

export const NO_EFFECTS: MergedEffects = {
  refusals: [],
  stop: null,
  isAllowed: false,
  endsTurn: false,
  ask: null,
  updatedInput: null,
  contexts: [],
};

/** Merges the effects of runs, which are in the order of their hooks. */
export function mergedEffects(
  runs: readonly { runId: string; effect: HookEffect }[],
): MergedEffects {
  const effects = runs.map(({ effect }) => effect);
  return {
    refusals: runs.flatMap(({ runId, effect: { refuse } }) =>
      refuse === undefined ? [] : [{ reason: refuse, runId }],
    ),
    stop: effects.find(({ stop }) => stop !== undefined)?.stop ?? null,
    isAllowed: effects.some(({ allow }) => allow === true),
    endsTurn: effects.some(({ endsTurn }) => endsTurn === true),
    ask: effects.find(({ ask }) => ask !== undefined)?.ask ?? null,
    updatedInput:
      effects.findLast(({ updatedInput }) => updatedInput !== undefined)?.updatedInput ?? null,
    contexts: effects.flatMap(({ context }) => context ?? []),
  };
}
