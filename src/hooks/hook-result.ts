import type { JsonObject } from '../base/json-value.ts';
import { cutMiddle } from '../base/text/cut-middle.ts';
import { cutText } from '../base/text/cut-text.ts';
import type {
  HookOutputEntry,
  HookOutputEntryKind,
  HookRunStatus,
} from '../protocol/generated/types.ts';

/** The most of one text that clients see, in UTF-16 units. */
const ENTRY_CHARS_MAX = 20_000;
/**
 * The most of a reason that the model reads, and of a context whose hook sets no limit of its own:
 * about 2,500 tokens.
 */
const TEXT_CHARS_MAX = 10_000;

/** The decision of a hook. Several hooks of one event are merged by `mergedEffects`. */
export interface HookEffect {
  /** Why it refuses, for the model. */
  refuse?: string;
  /** Why it ends the work. */
  stop?: string;
  /** It answers a request for approval with yes. */
  allow?: true;
  /** With a refusal of an approval: the turn ends. */
  endsTurn?: true;
  /** Why the user must approve the call. */
  ask?: string;
  /** Replaces the input of the call. */
  updatedInput?: JsonObject;
  /** For the model. */
  context?: string;
}

/** The result of one run of a hook. */
export interface HookResult {
  status: Exclude<HookRunStatus, 'running'>;
  entries: HookOutputEntry[];
  effect: HookEffect;
}

export function entry(kind: HookOutputEntryKind, text: string): HookOutputEntry {
  return {
    kind,
    text: text.length > ENTRY_CHARS_MAX ? `${cutText(text, ENTRY_CHARS_MAX)}…` : text,
  };
}

/**
 * The effect with texts that are no longer than a model should read. `contextCharsMax`: of the
 * context that the hook gives.
 */
export function boundedEffect(effect: HookEffect, contextCharsMax: number | null): HookEffect {
  const { refuse, stop, ask, context, ...rest } = effect;
  return {
    ...rest,
    ...(refuse !== undefined && { refuse: cutMiddle(refuse, TEXT_CHARS_MAX) }),
    ...(stop !== undefined && { stop: cutMiddle(stop, TEXT_CHARS_MAX) }),
    ...(ask !== undefined && { ask: cutMiddle(ask, TEXT_CHARS_MAX) }),
    ...(context !== undefined && {
      context: cutMiddle(context, contextCharsMax ?? TEXT_CHARS_MAX),
    }),
  };
}

/** A hook that failed decides nothing. */
export function failedHook(why: string): HookResult {
  return { status: 'failed', entries: [entry('error', why)], effect: {} };
}
