import type { JsonValue } from '../../base/json-value.ts';
import type { HookForm } from '../../hooks/hook-call.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { ActionOutcome, Ask, Verdict } from '../../tools/action.ts';
import type { ArrivedInput } from './turn-input.ts';

/**
 * The events of a turn that parts can handle. `facts`: the event, as handlers see it. `effects`:
 * the changes that handlers can make. `tell`: messages that the model reads. `end`: the turn ends
 * here.
 */
export interface TurnEvents {
  /**
   * The turn is about to take the input that has arrived, at its beginning and before each further
   * request. The model reads what is told before that input.
   */
  inputNext: { facts: Record<string, never>; effects: { tell?: ResponseItem[]; end?: true } };
  /**
   * The model is about to read input that was withheld. `refuse`: it does not. It reads what is
   * told after the input, or in its place with the next request.
   */
  input: {
    facts: { input: ArrivedInput };
    effects: { refuse?: true; end?: true; tell?: ResponseItem[] };
  };
  /**
   * A tool is about to read the arguments of a call. `args` replaces them. `refuse`: why the call
   * is refused, for the model. `ask`: why the reviewer in force must approve the call, even if
   * policy allows it. The model reads what is told with the output.
   */
  call: {
    facts: { call: PendingCall };
    effects: { args?: JsonValue; refuse?: string; ask?: string; tell?: ResponseItem[] };
  };
  /**
   * A call that a part wants was performed, and its output stored. `output` replaces what the model
   * reads.
   */
  called: {
    facts: { call: PendingCall; outcome: ActionOutcome };
    effects: { output?: string; tell?: ResponseItem[] };
  };
  /** A reviewer is about to be asked. `verdict` counts in place of the reviewer's. */
  approval: { facts: AskedApproval; effects: { verdict?: Verdict } };
  /** The thread is about to be compacted. `stop`: it is not, and the turn is interrupted. */
  compacting: { facts: { trigger: CompactionTrigger }; effects: { stop?: true } };
  /** The thread was compacted. `stop`: the turn is interrupted. */
  compacted: { facts: { trigger: CompactionTrigger }; effects: { stop?: true } };
}

/** The facts of each event. */
export type TurnFacts = { [Event in keyof TurnEvents]: TurnEvents[Event]['facts'] };

/** The effects that handlers of each event can have. */
export type TurnEffects = { [Event in keyof TurnEvents]: TurnEvents[Event]['effects'] };

/** The rule of an event, for several parts, for one that throws and for an interrupt. */
interface EventRule<Facts, Effects> {
  /** The effects of a handler that throws. An error of the store passes through. */
  thrown: Effects;
  /** Whether an interrupt ends the event without effects. Otherwise the next part is asked. */
  endsByInterrupt: boolean;
  /** The parts after one with any of these effects are not asked. */
  decidedBy: readonly (keyof Effects)[];
  /** The effects of the parts so far, with those of the next one. */
  merged(before: Effects, next: Effects): Effects;
  /** The event as the next part sees it. Absent: as it is. */
  seen?(facts: Facts, before: Effects): Facts;
}

const PASSES = { thrown: {}, endsByInterrupt: false, decidedBy: [], merged: joined };

/** A row for each event. */
export const EVENTS: {
  readonly [Event in keyof TurnEvents]: EventRule<TurnFacts[Event], TurnEffects[Event]>;
} = {
  inputNext: PASSES,
  input: {
    thrown: { refuse: true },
    endsByInterrupt: true,
    decidedBy: ['refuse', 'end'],
    merged: joined,
  },
  call: {
    thrown: { refuse: 'Refused: a check of this call failed inside the server.' },
    endsByInterrupt: true,
    decidedBy: ['refuse'],
    // The first reason to ask counts. A refusal keeps what was told, and nothing else.
    merged: (before, next) => {
      const { args: _, ask: __, ...refusal } = joined(before, next);
      if (next.refuse !== undefined) return refusal;
      return { ...joined(before, next), ...(before.ask !== undefined && { ask: before.ask }) };
    },
    seen: ({ call }, { args }) => ({ call: args === undefined ? call : { ...call, args } }),
  },
  called: {
    ...PASSES,
    seen: ({ call, outcome }, { output }) => ({ call, outcome: changedOutcome(outcome, output) }),
  },
  approval: { ...PASSES, decidedBy: ['verdict'] },
  compacting: PASSES,
  compacted: PASSES,
};

/** All messages of both, and of each other effect the last one. */
function joined<Effects extends object>(
  before: Effects & { tell?: ResponseItem[] },
  next: Effects & { tell?: ResponseItem[] },
): Effects {
  const tell = [...(before.tell ?? []), ...(next.tell ?? [])];
  return { ...before, ...next, ...(tell.length > 0 && { tell }) };
}

/**
 * The outcome of a call with the output that parts have given it. Such an output is not the user's,
 * and the model does not read the tools that a search has found.
 */
export function changedOutcome(outcome: ActionOutcome, output?: string): ActionOutcome {
  if (output === undefined) return outcome;
  const { foundTools: _, author: __, ...kept } = outcome;
  return { ...kept, output };
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
