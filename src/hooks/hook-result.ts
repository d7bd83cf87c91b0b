import type { JsonObject } from '../base/json-value.ts';
import { cutText } from '../base/text/cut-text.ts';
import type { HookOutputEntry, HookOutputEntryKind, HookRunStatus } from '../protocol/generated/types.ts';

/** The most of one text that clients see, in UTF-16 units. */
const ENTRY_CHARS_MAX = 20_000;

/** What a hook decides. Several hooks of one event are merged by `mergedEffects`. */
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
  return { kind, text: text.length > ENTRY_CHARS_MAX ? `${cutText(text, ENTRY_CHARS_MAX)}…` : text };
}

/** A hook that failed decides nothing. */
export function failedHook(why: string): HookResult {
  return { status: 'failed', entries: [entry('error', why)], effect: {} };
}
