import { type Deadline, deadlineIn } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { Once } from '../../base/loading/once.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { realPathOrSameLater } from '../../base/paths/real-path.ts';
import { type HookDefinition, isFor, runs } from '../../config/hooks/hook-definition.ts';
import { hookEvent } from '../../config/hooks/hook-events.ts';
import { hookCall, withInput } from '../../hooks/hook-call.ts';
import { type MergedEffects, NO_EFFECTS } from '../../hooks/merged-effects.ts';
import { contextMessage } from '../../instructions/context-message.ts';
import type { HookEventName, ResponseItem, TurnError } from '../../protocol/generated/types.ts';
import type { ActionOutcome, Verdict } from '../../tools/action.ts';
import { isDecided } from '../../tools/denial.ts';
import type {
  AskedApproval,
  CallDecision,
  CompactionTrigger,
  EndBeforeRequest,
  EndedResponse,
  PendingCall,
  TurnContext,
  TurnInput,
  TurnPart,
} from '../turn/turn-part.ts';
import type { TurnPartDeps } from '../turn/turn-part-deps.ts';
import { approvalFacts } from './approval-facts.ts';
import { continuation } from './continuation.ts';
import { agentType, hookInput } from './hook-input.ts';
import type { HookRunner } from './hook-runner.ts';
import { toolResponse } from './tool-response.ts';

/** The tool whose calls reach commands in the background. */
const WRITE_STDIN = 'write_stdin';
/**
 * How many commands in the background are remembered. The oldest may have ended without a call that
 * has read it.
 */
const BACKGROUND_MAX = 100;
/** How often hooks may go on with one turn that would end. */
const CONTINUATIONS_MAX = 100;
/** The longest time that the end of a turn waits for hooks after an interrupt. */
const INTERRUPT_MS_MAX = 10_000;
/**
 * The longest time that the end of a thread waits for its SessionEnd hooks. At the server's end it
 * is LAST_PROGRAMS_MS_MAX.
 */
const CLOSE_MS_MAX = 60_000;

interface Happening {
  /** Null: no turn runs. */
  turn: TurnContext | null;
  /** The facts of this event only. */
  facts?: JsonObject;
  /** The names that matchers are compared with. */
  names?: readonly string[];
  callId?: string;
  /** Ends the wait. Absent: that of the turn, if there is one. */
  signal?: AbortSignal;
}

/** Runs the hooks that the user has configured, at the moments of a thread's turns. */
export class Hooks implements TurnPart {
  readonly #deps: TurnPartDeps;
  /** The code that runs hooks is imported at its first use. */
  readonly #runner = new Once<HookRunner>(async () => {
    const code = await import('./hook-runner.ts');
    return new code.HookRunner(this.#deps, (context) => this.#ready.push(context));
  });
  /** Why the next input begins a session, for its hooks; null: it does not. */
  #due: 'startup' | 'clear' | 'resume' | 'fork' | 'compact' | null;
  /** Whether a turn of the thread has begun. */
  #hasBegun = false;
  /** The context that hooks gave since the last request. The model reads it with the next one. */
  #ready: string[] = [];
  /** The calls whose commands run on, by the number of their session. */
  readonly #inBackground = new Map<number, PendingCall>();
  /** The runs that have begun. An interrupt ends the wait for them, and they end soon after. */
  readonly #open = new Set<Promise<unknown>>();
  /** The end of the hooks that an interrupt of the turn causes; null: there are none. */
  #interruptDeadline: Deadline | null = null;
  /** The turn that hooks went on with, and how often. */
  #continued = { turnId: '', count: 0 };

  constructor(deps: TurnPartDeps) {
    this.#deps = deps;
    this.#due = deps.origin;
  }

  withholdsInput(): boolean {
    return this.#has('userPromptSubmit') || (this.#due !== null && this.#has(this.#startEvent));
  }

  async beforeInput(turn: TurnContext): Promise<{ tell?: ResponseItem[]; end?: true }> {
    this.#hasBegun = true;
    const stop = await this.#start(turn);
    return { tell: this.#told(turn), ...(stop === null ? {} : { end: true }) };
  }

  async checkInput(
    { item }: TurnInput,
    turn: TurnContext,
  ): Promise<{ refuse?: true; end?: true; tell?: ResponseItem[] }> {
    const content = item.type === 'userMessage' ? item.content : [];
    const prompt = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const { refusals, stop, contexts } = await this.#run('userPromptSubmit', {
      turn,
      facts: { prompt },
    });
    const tell = messages(contexts);
    if (stop !== null) return { refuse: true, end: true, tell };
    return { ...(refusals.length > 0 && { refuse: true }), tell };
  }

  async beforeRequest(
    turn: TurnContext,
  ): Promise<{ tell?: ResponseItem[]; end?: EndBeforeRequest }> {
    // The compaction that is part of this moment begins a session, too.
    if ((await this.#start(turn)) !== null) return { tell: this.#told(turn), end: { error: null } };
    const { refusals, stop } = await this.#run('preModelRequest', { turn });
    const reason = stop ?? refusals[0]?.reason ?? null;
    return {
      tell: this.#told(turn),
      ...(reason === null ? {} : { end: { error: denied(reason) } }),
    };
  }

  async afterRequest({ status, error, usage }: EndedResponse, turn: TurnContext): Promise<void> {
    const counted = usage && {
      input_tokens: usage.inputTokens,
      cached_input_tokens: usage.cachedInputTokens,
      output_tokens: usage.outputTokens,
      reasoning_output_tokens: usage.reasoningOutputTokens,
      total_tokens: usage.totalTokens,
    };
    const facts = { status, error: error?.message ?? null, token_usage: counted };
    if (!turn.signal.aborted) await this.#run('postModelRequest', { turn, facts });
    // Not awaited here: the end of the turn waits for these hooks and the Interrupt hooks side by
    // side.
    else if (isDecided(turn.interruptCause))
      this.#run('postModelRequest', { turn, facts, signal: this.#afterInterrupt() }).catch(
        () => {},
      );
  }

  async beforeCall(call: PendingCall, turn: TurnContext): Promise<CallDecision> {
    if (!this.#has('preToolUse')) return {};
    const { name, names, input } = hookCall(call);
    const facts = { tool_name: name, tool_input: input, tool_use_id: call.callId };
    const { refusals, contexts, updatedInput, ask } = await this.#run('preToolUse', {
      turn,
      facts,
      names,
      callId: call.callId,
    });
    const tell = messages(contexts);
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

  watchesCall(call: PendingCall): boolean {
    if (!this.#has('postToolUse')) return false;
    const endsOther = this.#inBackground.size > 0 && call.tool === WRITE_STDIN;
    return endsOther || this.#of('postToolUse', hookCall(call).names).length > 0;
  }

  /** A command in the background is over when the call has returned that has read its end. */
  async afterCall(
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
      tell: messages(merged.flatMap(({ contexts }) => contexts)),
      ...(feedback === null ? {} : { output: feedback }),
    };
  }

  #performed(call: PendingCall, outcome: ActionOutcome, turn: TurnContext): Promise<MergedEffects> {
    const { name, names, input } = hookCall(call);
    const facts = {
      tool_name: name,
      tool_input: input,
      tool_response: toolResponse(outcome),
      tool_use_id: call.callId,
    };
    return this.#run('postToolUse', { turn, facts, names, callId: call.callId });
  }

  async approvalAsked(
    { ask, call, demand }: AskedApproval,
    turn: TurnContext,
  ): Promise<Verdict | null> {
    if (call === null || !this.#has('permissionRequest')) return null;
    const { facts, names } = await approvalFacts({ ask, call, demand }, turn);
    const signal =
      ask.signal === undefined ? turn.signal : AbortSignal.any([turn.signal, ask.signal]);
    const merged = await this.#run('permissionRequest', {
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

  async beforeCompaction(turn: TurnContext, trigger: CompactionTrigger): Promise<{ stop?: true }> {
    const { stop } = await this.#run('preCompact', { turn, facts: { trigger }, names: [trigger] });
    return stop === null ? {} : { stop: true };
  }

  async afterCompaction(turn: TurnContext, trigger: CompactionTrigger): Promise<{ stop?: true }> {
    if (this.#role === null) this.#due = 'compact';
    const { stop } = await this.#run('postCompact', { turn, facts: { trigger }, names: [trigger] });
    return stop === null ? {} : { stop: true };
  }

  async stopping(
    turn: TurnContext,
    lastMessage: string | null,
  ): Promise<{ goOn?: ReturnType<typeof continuation> }> {
    const role = this.#role;
    const event = role === null ? 'stop' : 'subagentStop';
    if (!this.#has(event)) return {};
    if (this.#continued.turnId !== turn.id) this.#continued = { turnId: turn.id, count: 0 };
    const facts = {
      stop_hook_active: this.#continued.count > 0,
      last_assistant_message: lastMessage,
    };
    const { refusals, stop } = await this.#run(event, {
      turn,
      facts,
      ...(role === null ? {} : { names: [role] }),
    });
    if (stop !== null || refusals.length === 0) return {};
    if (this.#continued.count >= CONTINUATIONS_MAX) {
      const message = `Hooks have continued this turn ${CONTINUATIONS_MAX} times, which is the limit. The turn ends.`;
      await this.#deps.outbox.announce([
        { method: 'warning', params: { threadId: this.#deps.threadId, message } },
      ]);
      return {};
    }
    this.#continued.count++;
    return { goOn: continuation(this.#deps.ids.next(), refusals) };
  }

  async cleanUp(turn: TurnContext): Promise<void> {
    const isInterrupted = turn.signal.aborted && isDecided(turn.interruptCause);
    const interrupt = isInterrupted
      ? this.#run('interrupt', { turn, signal: this.#afterInterrupt() })
      : null;
    await Promise.allSettled([...this.#open]);
    this.#interruptDeadline?.clear();
    this.#interruptDeadline = null;
    await interrupt;
  }

  async closed(): Promise<void> {
    const isDue =
      this.#hasBegun && this.#role === null && this.#of('sessionEnd', [END_REASON]).length > 0;
    if (!isDue) return;
    const { clock, lastPrograms, log, threadId } = this.#deps;
    const deadline = deadlineIn(CLOSE_MS_MAX, clock);
    const signal = AbortSignal.any([deadline.signal, lastPrograms.over]);
    const hasPlace = await lastPrograms.places.take(signal);
    try {
      const end = { turn: null, facts: { reason: END_REASON }, names: [END_REASON], signal };
      if (hasPlace) await this.#run('sessionEnd', end);
      else
        log.warn(
          { threadId },
          'the SessionEnd hooks of a thread did not run, because too many threads were closed at once',
        );
    } finally {
      deadline.clear();
      if (hasPlace) lastPrograms.places.release();
    }
  }

  async endWork(): Promise<void> {
    this.#ready = [];
    this.#inBackground.clear();
    await (await this.#runner.made)?.close();
  }

  /** The role of the agent that the thread is; null if it is no agent. */
  get #role(): string | null {
    return agentType(this.#deps.record());
  }

  get #startEvent(): 'sessionStart' | 'subagentStart' {
    return this.#role === null ? 'sessionStart' : 'subagentStart';
  }

  /** Ends the hooks that an interrupt causes: the end of their turn waits for all of them. */
  #afterInterrupt(): AbortSignal {
    const { clock, lastPrograms } = this.#deps;
    this.#interruptDeadline ??= deadlineIn(INTERRUPT_MS_MAX, clock);
    return AbortSignal.any([this.#interruptDeadline.signal, lastPrograms.over]);
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
      ? this.#run('sessionStart', { turn, facts: { source }, names: [source] })
      : this.#run('subagentStart', { turn, names: [role] }));
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
    return turn.signal.aborted ? [] : messages(this.#ready.splice(0));
  }

  #has(event: HookEventName): boolean {
    const { hooks } = this.#deps.configuration().config.hooks;
    return hooks.some((hook) => hook.event === event && runs(hook));
  }

  #of(event: HookEventName, names: readonly string[]): HookDefinition[] {
    const { hooks } = this.#deps.configuration().config.hooks;
    return hooks.filter((hook) => hook.event === event && runs(hook) && hook.matches(names));
  }

  /** Runs the hooks of an event. Hooks of an event without matchers match any names. */
  #run(event: HookEventName, happening: Happening): Promise<MergedEffects> {
    const hooks = this.#of(event, happening.names ?? []);
    if (hooks.length === 0) return Promise.resolve(NO_EFFECTS);
    const run = this.#runAll(event, hooks, happening).finally(() => this.#open.delete(run));
    this.#open.add(run);
    return run;
  }

  async #runAll(
    event: HookEventName,
    matching: readonly HookDefinition[],
    { turn, facts = {}, callId, signal: own }: Happening,
  ): Promise<MergedEffects> {
    const record = this.#deps.record();
    const { settings } = turn ?? record;
    const signal = own ?? turn?.signal ?? new AbortController().signal;
    const hooks = await hooksFor(matching, settings.cwd, signal);
    if (hooks.length === 0) return NO_EFFECTS;
    const runner = await this.#runner.get();
    return runner.run({
      event: hookEvent(event),
      input: await hookInput(event, { record, settings, turnId: turn?.id ?? null }, facts),
      hooks,
      turn,
      cwd: settings.cwd,
      callId: callId ?? null,
      signal,
    });
  }
}

/**
 * The hooks that are for work in this folder. None if the signal aborts while the folder's file
 * system hangs.
 */
async function hooksFor(
  hooks: readonly HookDefinition[],
  cwd: string,
  signal: AbortSignal,
): Promise<readonly HookDefinition[]> {
  if (hooks.every(({ projectFolder }) => projectFolder === null)) return hooks;
  const realCwd = await orAborted(realPathOrSameLater(cwd), signal);
  return realCwd === null ? [] : hooks.filter((hook) => isFor(hook, realCwd));
}

/** Why a session ends, as hooks see it. */
const END_REASON = 'other';

function messages(contexts: readonly string[]): ResponseItem[] {
  return contexts.map((context) => contextMessage('developer', [context]));
}

function denied(reason: string): TurnError {
  return {
    message: `A hook denied the request to the model: ${reason}`,
    codexErrorInfo: 'inferenceHookDenied',
    additionalDetails: null,
  };
}
