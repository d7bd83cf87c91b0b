import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { Action, ActionOutcome, Verdict } from '../../tools/action.ts';
import { type PartGuard, returned } from './part-guard.ts';
import type {
  AskedApproval,
  CallDecision,
  McpCall,
  PendingCall,
  TurnContext,
  TurnPart,
} from './turn-part.ts';

const INTERRUPTED = 'The turn was interrupted before this was done.';

/** The parts of one thread's turns at the moments of its calls, in the order of the list. */
export class CallParts {
  readonly #parts: readonly TurnPart[];
  readonly #guard: PartGuard;

  constructor(parts: readonly TurnPart[], guard: PartGuard) {
    this.#parts = parts;
    this.#guard = guard;
  }

  /**
   * The decision about a call. Null: the turn was interrupted meanwhile. Rejects only with the
   * store's error.
   */
  async beforeCall(call: PendingCall, turn: TurnContext): Promise<CallDecision | null> {
    const decision: CallDecision = {};
    const tell: ResponseItem[] = [];
    const failed = { refuse: 'Refused: a check of this call failed inside the server.' };
    for (const part of this.#parts) {
      const pending = decision.args === undefined ? call : { ...call, args: decision.args };
      const result = await this.#guard.decided(
        async () => returned(part.beforeCall?.(pending, turn) ?? {}, turn.signal),
        failed,
      );
      if (result === null) return null;
      tell.push(...(result.tell ?? []));
      if (result.refuse !== undefined) return { refuse: result.refuse, tell };
      if (result.args !== undefined) decision.args = result.args;
      if (result.ask !== undefined) decision.ask ??= result.ask;
    }
    return { ...decision, tell };
  }

  /** Whether a part may change the output of this call. */
  watchesCall(call: PendingCall): boolean {
    return this.#parts.some((part) =>
      this.#guard.attempt(
        () => part.watchesCall?.(call) === true,
        false,
        'a part failed to say whether it watches a call',
      ),
    );
  }

  /**
   * The output of a call as the parts change it, and the messages that the model reads with it.
   * Rejects only with the store's error.
   */
  async afterCall(
    call: PendingCall,
    outcome: ActionOutcome,
    turn: TurnContext,
  ): Promise<{ outcome: ActionOutcome; tell: ResponseItem[] }> {
    let changed = outcome;
    const results = await this.#guard.each(turn, 'a part failed after a call', async (part) => {
      const result = (await part.afterCall?.(call, changed, turn)) ?? {};
      if (result.output !== undefined) changed = { ...replaced(changed), output: result.output };
      return result;
    });
    return { outcome: changed, tell: results.flatMap(({ tell = [] }) => tell) };
  }

  /** The first verdict of a part, in place of a reviewer's. Null: none has one. */
  async approvalAsked(asked: AskedApproval, turn: TurnContext): Promise<Verdict | null> {
    const signal =
      asked.ask.signal === undefined
        ? turn.signal
        : AbortSignal.any([turn.signal, asked.ask.signal]);
    for (const part of this.#parts) {
      const verdict = await this.#guard.decided(
        async () => returned(part.approvalAsked?.(asked, turn) ?? null, signal),
        null,
      );
      if (verdict !== null) return verdict;
    }
    return null;
  }

  /** The reason why a part refuses an action, for the model; null: none does. Never rejects. */
  async beforeAction(action: Action, turn: TurnContext): Promise<string | null> {
    for (const part of this.#parts) {
      try {
        const result = await returned(part.beforeAction?.(action, turn) ?? {}, turn.signal);
        if (result === null) return INTERRUPTED;
        if (result.refuse !== undefined) return result.refuse;
      } catch (error) {
        this.#guard.failed('a part failed to check an action, so it is refused', {
          err: error,
          turnId: turn.id,
          kind: action.kind,
        });
        return 'Refused: a check of this action failed inside the server.';
      }
    }
    return null;
  }

  callMcpTool(call: McpCall, signal: AbortSignal): Promise<string> | null {
    for (const part of this.#parts) {
      const called = part.callMcpTool?.(call, signal) ?? null;
      if (called !== null) return called;
    }
    return null;
  }
}

/**
 * The outcome of a call whose output is replaced: it is not the user's, and the model does not read
 * the tools that a search has found.
 */
function replaced({ foundTools: _, author: __, ...outcome }: ActionOutcome): ActionOutcome {
  return outcome;
}
