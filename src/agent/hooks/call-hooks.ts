import { hookCall, withInput } from '../../hooks/hook-call.ts';
import type { MergedEffects } from '../../hooks/merged-effects.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { ActionOutcome } from '../../tools/action.ts';
import type { PendingCall, TurnEffects } from '../turn/turn-events.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import type { ConfiguredHooks } from './configured-hooks.ts';
import { hookMessages } from './hook-messages.ts';
import { toolResponse } from './tool-response.ts';

/** The tool whose calls reach commands in the background. */
const WRITE_STDIN = 'write_stdin';
/**
 * How many commands in the background are remembered. The oldest may have ended without a call that
 * has read it.
 */
const BACKGROUND_MAX = 100;

/** Runs the hooks before and after calls of tools, at the moments of `TurnPart` for them. */
export class CallHooks {
  readonly #hooks: ConfiguredHooks;
  /** The calls whose commands run on, by the number of their session. */
  readonly #inBackground = new Map<number, PendingCall>();

  constructor(hooks: ConfiguredHooks) {
    this.#hooks = hooks;
  }

  /** Asks the hooks about a call that is to begin. */
  async before(call: PendingCall, turn: TurnContext): Promise<TurnEffects['call']> {
    if (!this.#hooks.has('preToolUse')) return {};
    const { name, names, input } = hookCall(call);
    const facts = { tool_name: name, tool_input: input, tool_use_id: call.callId };
    const { refusals, contexts, updatedInput, ask } = await this.#hooks.run('preToolUse', {
      turn,
      facts,
      names,
      callId: call.callId,
    });
    const tell = hookMessages(contexts);
    const [refusal] = refusals;
    if (refusal !== undefined)
      return {
        tell,
        refuse: `A PreToolUse hook blocked this call, so it was not performed. Reason: ${refusal.reason}`,
      };
    const changed = updatedInput === null ? {} : withInput(call, updatedInput);
    if ('problem' in changed)
      return {
        tell,
        refuse: `A PreToolUse hook changed the input of this call to one that is not valid: ${changed.problem}.`,
      };
    return { tell, ...changed, ...(ask === null ? {} : { ask }) };
  }

  /** Whether hooks may run after the call. */
  watches(call: PendingCall): boolean {
    if (!this.#hooks.has('postToolUse')) return false;
    const endsOther = this.#inBackground.size > 0 && call.tool === WRITE_STDIN;
    return endsOther || this.#hooks.matching('postToolUse', hookCall(call).names).length > 0;
  }

  /**
   * Runs the hooks after a call. A command in the background is over when the call that has read
   * its end has returned.
   */
  async after(
    call: PendingCall,
    outcome: ActionOutcome,
    turn: TurnContext,
  ): Promise<{ output?: string; tell?: ResponseItem[] }> {
    const { session } = outcome;
    if (outcome.item === 'runsOn') {
      if (session !== undefined) this.#inBackground.set(session.number, call);
      if (this.#inBackground.size > BACKGROUND_MAX)
        this.#inBackground.delete([...this.#inBackground.keys()][0] ?? 0);
      return {};
    }
    const begun = session?.isOver ? this.#inBackground.get(session.number) : undefined;
    if (session?.isOver) this.#inBackground.delete(session.number);
    const merged = [
      await this.#performed(call, outcome, turn),
      ...(begun === undefined ? [] : [await this.#performed(begun, outcome, turn)]),
    ];
    const stop = merged.find((each) => each.stop !== null)?.stop ?? null;
    const reasons = merged.flatMap(({ refusals }) => refusals.map(({ reason }) => reason));
    const feedback = stop ?? (reasons.length > 0 ? reasons.join('\n\n') : null);
    return {
      tell: hookMessages(merged.flatMap(({ contexts }) => contexts)),
      ...(feedback === null ? {} : { output: feedback }),
    };
  }

  /** Forgets the commands in the background. */
  endWork(): void {
    this.#inBackground.clear();
  }

  #performed(call: PendingCall, outcome: ActionOutcome, turn: TurnContext): Promise<MergedEffects> {
    const { name, names, input } = hookCall(call);
    const facts = {
      tool_name: name,
      tool_input: input,
      tool_response: toolResponse(outcome),
      tool_use_id: call.callId,
    };
    return this.#hooks.run('postToolUse', { turn, facts, names, callId: call.callId });
  }
}
