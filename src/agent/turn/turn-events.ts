import type { JsonValue } from '../../base/json-value.ts';
import type { HookForm } from '../../hooks/hook-call.ts';
import type { ResponseItem, UntimedItem } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ActionOutcome, Ask, Verdict } from '../../tools/action.ts';

/** The events of a turn that parts can handle, with the facts of each. */
export interface TurnEvents {
  /**
   * The turn is about to take the input that has arrived, at its beginning and before each further
   * request.
   */
  inputNext: Record<string, never>;
  /** The model is about to read input that was withheld. */
  input: { input: ArrivedInput };
  /** A tool is about to read the arguments of a call. */
  call: { call: PendingCall };
  /** A call that a part wants was performed, and its output stored. */
  called: { call: PendingCall; outcome: ActionOutcome };
  /** A reviewer is about to be asked. */
  approval: AskedApproval;
  /** The thread is about to be compacted. */
  compacting: { trigger: CompactionTrigger };
  /** The thread was compacted. */
  compacted: { trigger: CompactionTrigger };
}

/** The effects that handlers of each event can have. */
export interface TurnEffects {
  /** `tell`: messages that the model reads before that input. `end`: the turn ends here. */
  inputNext: { tell?: ResponseItem[]; end?: true };
  /**
   * `refuse`: the model does not read the input. `end`: nor does it read anything else, because the
   * turn ends here. `tell`: messages that it reads after the input, or in its place with the next
   * request.
   */
  input: { refuse?: true; end?: true; tell?: ResponseItem[] };
  call: CallDecision;
  /** `output` replaces what the model reads. */
  called: { output?: string; tell?: ResponseItem[] };
  /** `verdict`: it counts in place of the reviewer's. */
  approval: { verdict?: Verdict };
  /** `stop`: the thread is not compacted, and the turn is interrupted. */
  compacting: { stop?: true };
  /** `stop`: the turn is interrupted. */
  compacted: { stop?: true };
}

/** The rule of an event, for several parts, for one that throws and for an interrupt. */
interface EventRule<Event extends keyof TurnEvents> {
  /** The effects of a handler that throws. An error of the store passes through. */
  thrown: TurnEffects[Event];
  /** The message in the log about a handler that throws. */
  failure: string;
  /** Whether an interrupt ends the event without effects. Otherwise the next part is asked. */
  endsByInterrupt: boolean;
  /** Whether the parts after these effects are not asked. */
  isDecided(effects: TurnEffects[Event]): boolean;
  /** The effects of the parts so far, with those of the next one. */
  merged(before: TurnEffects[Event], next: TurnEffects[Event]): TurnEffects[Event];
  /** The event as the next part sees it. Absent: as it is. */
  seen?(event: TurnEvents[Event], before: TurnEffects[Event]): TurnEvents[Event];
}

const never = () => false;
const stops = { thrown: {}, endsByInterrupt: false, isDecided: never };

/** A row for each event. */
export const EVENTS: { readonly [Event in keyof TurnEvents]: EventRule<Event> } = {
  inputNext: {
    ...stops,
    failure: 'a part failed before the input of a turn',
    merged: (before, next) => ({ ...before, ...next, tell: told(before, next) }),
  },
  input: {
    thrown: { refuse: true },
    failure: 'a part failed to decide',
    endsByInterrupt: true,
    isDecided: ({ refuse, end }) => refuse === true || end === true,
    merged: (before, next) => ({ ...next, tell: told(before, next) }),
  },
  call: {
    thrown: { refuse: 'Refused: a check of this call failed inside the server.' },
    failure: 'a part failed to decide',
    endsByInterrupt: true,
    isDecided: ({ refuse }) => refuse !== undefined,
    merged: (before, { refuse, args, ask = before.ask, ...next }) => {
      const tell = told(before, next);
      if (refuse !== undefined) return { refuse, tell };
      return {
        ...before,
        ...(args === undefined ? {} : { args }),
        ...(ask === undefined ? {} : { ask: before.ask ?? ask }),
        tell,
      };
    },
    seen: ({ call }, { args }) => ({ call: args === undefined ? call : { ...call, args } }),
  },
  called: {
    ...stops,
    failure: 'a part failed after a call',
    merged: (before, next) => ({ ...before, ...next, tell: told(before, next) }),
    seen: ({ call, outcome }, effects) => ({ call, outcome: changedOutcome(outcome, effects) }),
  },
  approval: {
    thrown: {},
    failure: 'a part failed to decide',
    endsByInterrupt: false,
    isDecided: ({ verdict }) => verdict !== undefined,
    merged: (_before, next) => next,
  },
  compacting: {
    ...stops,
    failure: 'a part failed before a compaction',
    merged: (before, next) => ({ ...before, ...next }),
  },
  compacted: {
    ...stops,
    failure: 'a part failed after a compaction',
    merged: (before, next) => ({ ...before, ...next }),
  },
};

/**
 * The outcome of a call with the output that parts have given it. Such an output is not the user's,
 * and the model does not read the tools that a search has found.
 */
export function changedOutcome(
  outcome: ActionOutcome,
  { output }: TurnEffects['called'],
): ActionOutcome {
  if (output === undefined) return outcome;
  const { foundTools: _, author: __, ...kept } = outcome;
  return { ...kept, output };
}

interface Telling {
  tell?: ResponseItem[];
}

function told({ tell: before = [] }: Telling, { tell: next = [] }: Telling): ResponseItem[] {
  return [...before, ...next];
}

/** Input of a user that is stored: the item for clients, and the items for the model. */
export interface ArrivedInput {
  item: UntimedItem;
  model: AuthoredItem[];
  atMs: number;
  /** The parts check it before the model reads it. It is stored as an unfinished item. */
  isWithheld?: true;
}

/** A call of the model to a tool that was offered, before the tool has read its arguments. */
export interface PendingCall {
  /** The model's id for the call. */
  callId: string;
  tool: string;
  /** Null: the tool is in no namespace. */
  namespace: string | null;
  args: JsonValue;
  /** How hooks see the call. Absent: by the name of its tool. */
  hookForm?: HookForm;
}

/** The decision of the parts about a call. */
export interface CallDecision {
  /** Replaces the arguments. */
  args?: JsonValue;
  /** Why the call is refused, for the model. */
  refuse?: string;
  /** Why the reviewer in force must approve the call, even if policy allows it. */
  ask?: string;
  /** Messages that the model reads with the output. */
  tell?: ResponseItem[];
}

/** A question of an action, with the call that it is about. Null: the model did not call for it. */
export interface AskedApproval {
  ask: Ask;
  call: PendingCall | null;
  /**
   * Why a check of the call demands the approval, which only the reviewer in force can then give.
   * Parts can refuse it. Null: policy.
   */
  demand: string | null;
}

/** The reason of a compaction: a client asked for it, or the prompt is too long. */
export type CompactionTrigger = 'manual' | 'auto';
