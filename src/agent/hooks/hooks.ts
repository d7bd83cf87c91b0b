import { type Deadline, deadlineIn } from '../../base/clock.ts';
import type { ResponseItem, TurnError } from '../../protocol/generated/types.ts';
import type { Verdict } from '../../tools/action.ts';
import { isDecided } from '../../tools/denial.ts';
import type { ThreadContext } from '../thread-context.ts';
import type {
  AskedApproval,
  CompactionTrigger,
  PendingCall,
  TurnEffects,
} from '../turn/turn-events.ts';
import type { ArrivedInput } from '../turn/turn-input.ts';
import type {
  EndBeforeRequest,
  EndedResponse,
  EventHandlers,
  TurnContext,
  TurnPart,
} from '../turn/turn-part.ts';
import { approvalFacts } from './approval-facts.ts';
import { CallHooks } from './call-hooks.ts';
import { ConfiguredHooks } from './configured-hooks.ts';
import { continuation } from './continuation.ts';
import { agentType, responseFacts } from './hook-input.ts';
import { hookMessages } from './hook-messages.ts';

/** How often hooks may go on with one turn that would end. */
const CONTINUATIONS_MAX = 100;
/** The longest time that the end of a turn waits for hooks after an interrupt. */
const INTERRUPT_MS_MAX = 10_000;
/**
 * The longest time that the end of a thread waits for its SessionEnd hooks. At the server's end it
 * is LAST_PROGRAMS_MS_MAX.
 */
const CLOSE_MS_MAX = 60_000;

/** Runs the hooks that the user has configured, at the moments of a thread's turns. */
export class Hooks implements TurnPart {
  readonly #thread: ThreadContext;
  readonly #hooks: ConfiguredHooks;
  readonly #calls: CallHooks;
  /** Why the next input begins a session, for its hooks; null: it does not. */
  #due: 'startup' | 'clear' | 'resume' | 'fork' | 'compact' | null;
  /** Whether a turn of the thread has begun. */
  #hasBegun = false;
  /** The context that hooks gave since the last request. The model reads it with the next one. */
  #ready: string[] = [];
  /** The end of the hooks that an interrupt of the turn causes; null: there are none. */
  #interruptDeadline: Deadline | null = null;
  /** The turn that hooks went on with, and how often. */
  #continued = { turnId: '', count: 0 };

  readonly on: EventHandlers = {
    inputNext: (_event, turn) => this.#beforeInput(turn),
    input: ({ input }, turn) => this.#checkInput(input, turn),
    call: ({ call }, turn) => this.#calls.before(call, turn),
    called: ({ call, outcome }, turn) => this.#calls.after(call, outcome, turn),
    approval: async (asked, turn) => {
      const verdict = await this.#verdict(asked, turn);
      return verdict === null ? {} : { verdict };
    },
    compacting: ({ trigger }, turn) => this.#beforeCompaction(turn, trigger),
    compacted: ({ trigger }, turn) => this.#afterCompaction(turn, trigger),
  };

  constructor(thread: ThreadContext) {
    this.#thread = thread;
    this.#hooks = new ConfiguredHooks(thread, (context) => this.#ready.push(context));
    this.#calls = new CallHooks(this.#hooks);
    this.#due = thread.origin;
  }

  wants(event: 'input' | 'called', about: PendingCall | null): boolean {
    if (event === 'called') return about !== null && this.#calls.watches(about);
    return (
      this.#hooks.has('userPromptSubmit') ||
      (this.#due !== null && this.#hooks.has(this.#startEvent))
    );
  }

  async #beforeInput(turn: TurnContext): Promise<TurnEffects['inputNext']> {
    this.#hasBegun = true;
    const stop = await this.#start(turn);
    return { tell: this.#told(turn), ...(stop === null ? {} : { end: true }) };
  }

  async #checkInput({ item }: ArrivedInput, turn: TurnContext): Promise<TurnEffects['input']> {
    const content = item.type === 'userMessage' ? item.content : [];
    const prompt = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const { refusals, stop, contexts } = await this.#hooks.run('userPromptSubmit', {
      turn,
      facts: { prompt },
    });
    const tell = hookMessages(contexts);
    if (stop !== null) return { refuse: true, end: true, tell };
    return { ...(refusals.length > 0 && { refuse: true }), tell };
  }

  async beforeRequest(
    turn: TurnContext,
  ): Promise<{ tell?: ResponseItem[]; end?: EndBeforeRequest }> {
    // The compaction that is part of this moment begins a session, too.
    if ((await this.#start(turn)) !== null) return { tell: this.#told(turn), end: { error: null } };
    const { refusals, stop } = await this.#hooks.run('preModelRequest', { turn });
    const reason = stop ?? refusals[0]?.reason ?? null;
    return {
      tell: this.#told(turn),
      ...(reason === null ? {} : { end: { error: denied(reason) } }),
    };
  }

  async requestEnded(response: EndedResponse, turn: TurnContext): Promise<Record<string, never>> {
    const facts = responseFacts(response);
    if (!turn.signal.aborted) await this.#hooks.run('postModelRequest', { turn, facts });
    // Not awaited here: the end of the turn waits for these hooks and the Interrupt hooks side by
    // side.
    else if (isDecided(turn.interruptCause))
      this.#hooks
        .run('postModelRequest', { turn, facts, signal: this.#afterInterrupt() })
        .catch(() => {});
    return {};
  }

  async #verdict({ ask, call, demand }: AskedApproval, turn: TurnContext): Promise<Verdict | null> {
    if (call === null || !this.#hooks.has('permissionRequest')) return null;
    const { facts, names } = await approvalFacts({ ask, call, demand }, turn);
    const signal =
      ask.signal === undefined ? turn.signal : AbortSignal.any([turn.signal, ask.signal]);
    const merged = await this.#hooks.run('permissionRequest', {
      turn,
      facts,
      names,
      callId: call.callId,
      signal,
    });
    const [refusal] = merged.refusals;
    if (refusal !== undefined)
      return {
        deny: {
          by: 'part',
          reason: refusal.reason,
          ...(merged.endsTurn ? { endsTurn: true } : {}),
        },
      };
    return merged.isAllowed ? { allow: ask.permit, scope: 'once' } : null;
  }

  async #beforeCompaction(
    turn: TurnContext,
    trigger: CompactionTrigger,
  ): Promise<TurnEffects['compacting']> {
    const { stop } = await this.#hooks.run('preCompact', {
      turn,
      facts: { trigger },
      names: [trigger],
    });
    return stop === null ? {} : { stop: true };
  }

  async #afterCompaction(
    turn: TurnContext,
    trigger: CompactionTrigger,
  ): Promise<TurnEffects['compacted']> {
    if (this.#role === null) this.#due = 'compact';
    const { stop } = await this.#hooks.run('postCompact', {
      turn,
      facts: { trigger },
      names: [trigger],
    });
    return stop === null ? {} : { stop: true };
  }

  async stopping(
    turn: TurnContext,
    lastMessage: string | null,
  ): Promise<{ goOn?: ReturnType<typeof continuation> }> {
    const role = this.#role;
    const event = role === null ? 'stop' : 'subagentStop';
    if (!this.#hooks.has(event)) return {};
    if (this.#continued.turnId !== turn.id) this.#continued = { turnId: turn.id, count: 0 };
    const facts = {
      stop_hook_active: this.#continued.count > 0,
      last_assistant_message: lastMessage,
    };
    const { refusals, stop } = await this.#hooks.run(event, {
      turn,
      facts,
      ...(role === null ? {} : { names: [role] }),
    });
    if (stop !== null || refusals.length === 0) return {};
    if (this.#continued.count >= CONTINUATIONS_MAX) {
      const message = `Hooks have continued this turn ${CONTINUATIONS_MAX} times, which is the limit. The turn ends.`;
      await this.#thread.outbox.announce([
        { method: 'warning', params: { threadId: this.#thread.id, message } },
      ]);
      return {};
    }
    this.#continued.count++;
    return { goOn: continuation(this.#thread.services.runtime.ids.next(), refusals) };
  }

  async cleanUp(turn: TurnContext): Promise<void> {
    const isInterrupted = turn.signal.aborted && isDecided(turn.interruptCause);
    const interrupt = isInterrupted
      ? this.#hooks.run('interrupt', { turn, signal: this.#afterInterrupt() })
      : null;
    await this.#hooks.settled();
    this.#interruptDeadline?.clear();
    this.#interruptDeadline = null;
    await interrupt;
  }

  async closed(): Promise<void> {
    const isDue =
      this.#hasBegun &&
      this.#role === null &&
      this.#hooks.matching('sessionEnd', [END_REASON]).length > 0;
    if (!isDue) return;
    const { id: threadId } = this.#thread;
    const { clock, log } = this.#thread.services.runtime;
    const { closingPrograms } = this.#thread.services.limits;
    const deadline = deadlineIn(CLOSE_MS_MAX, clock);
    const signal = AbortSignal.any([deadline.signal, closingPrograms.over]);
    const hasPlace = await closingPrograms.places.take(signal);
    try {
      const end = { turn: null, facts: { reason: END_REASON }, names: [END_REASON], signal };
      if (hasPlace) await this.#hooks.run('sessionEnd', end);
      else
        log.warn(
          { threadId },
          'the SessionEnd hooks of a thread did not run, because too many threads were closed at once',
        );
    } finally {
      deadline.clear();
      if (hasPlace) closingPrograms.places.release();
    }
  }

  endWork(): Promise<void> {
    this.#ready = [];
    this.#calls.endWork();
    return this.#hooks.close();
  }

  /** The role of the agent that the thread is; null if it is no agent. */
  get #role(): string | null {
    return agentType(this.#thread.state.record);
  }

  get #startEvent(): 'sessionStart' | 'subagentStart' {
    return this.#role === null ? 'sessionStart' : 'subagentStart';
  }

  /** Ends the hooks that an interrupt causes: the end of their turn waits for all of them. */
  #afterInterrupt(): AbortSignal {
    const { clock } = this.#thread.services.runtime;
    const { closingPrograms } = this.#thread.services.limits;
    this.#interruptDeadline ??= deadlineIn(INTERRUPT_MS_MAX, clock);
    return AbortSignal.any([this.#interruptDeadline.signal, closingPrograms.over]);
  }

  /**
   * Runs the hooks of the beginning of a session, if one is due, and keeps their context. Returns
   * why they end the turn, or null.
   */
  async #start(turn: TurnContext): Promise<string | null> {
    const source = this.#due;
    this.#due = null;
    if (source === null) return null;
    const role = this.#role;
    const { stop, contexts } = await (role === null
      ? this.#hooks.run('sessionStart', { turn, facts: { source }, names: [source] })
      : this.#hooks.run('subagentStart', { turn, names: [role] }));
    // An interrupt cut the hooks off: the next turn begins the session.
    if (turn.signal.aborted) this.#due ??= source;
    else this.#ready.push(...contexts);
    return stop;
  }

  /**
   * The context that is ready, for the model. After an interrupt nobody takes it, so it stays for
   * the next turn.
   */
  #told(turn: TurnContext): ResponseItem[] {
    return turn.signal.aborted ? [] : hookMessages(this.#ready.splice(0));
  }
}

/** Why a session ends, as hooks see it. */
const END_REASON = 'other';

function denied(reason: string): TurnError {
  return {
    message: `A hook denied the request to the model: ${reason}`,
    codexErrorInfo: 'inferenceHookDenied',
    additionalDetails: null,
  };
}
