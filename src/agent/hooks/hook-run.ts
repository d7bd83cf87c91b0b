import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import type { HookDefinition } from '../../config/hooks/hook-definition.ts';
import { type HookEvent, hookEvent, separatedName } from '../../config/hooks/hook-events.ts';
import { boundedEffect, type HookEffect, type HookResult } from '../../hooks/hook-result.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { HookRunSummary } from '../../protocol/generated/types.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import { seconds } from '../turn/turn-view.ts';

/** An event at which hooks run. */
export interface Occasion {
  event: HookEvent;
  input: JsonObject;
  /** The hooks that the event is for, in their order. */
  hooks: readonly HookDefinition[];
  /** Null: no turn runs. */
  turn: TurnContext | null;
  /** The working directory of hooks that are not a project's. Absolute. */
  cwd: string;
  /** The call that the event is about; null: none. */
  callId: string | null;
  signal: AbortSignal;
}

/** A run of a hook, with what clients are told of it. It begins when it is made. */
export class HookRun {
  readonly hook: HookDefinition;
  readonly occasion: Occasion;
  readonly id: string;
  /** Ends the run. */
  readonly signal: AbortSignal;
  readonly #threadId: string;
  readonly #clock: Clock;
  readonly #startedAtMs: number;
  readonly #startedMs: number;
  /** How long it took; null: it has not ended. */
  #durationMs: number | null = null;

  /** `closed`: aborts when the hooks of the thread are killed. */
  constructor(
    hook: HookDefinition,
    occasion: Occasion,
    { threadId, clock, closed }: { threadId: string; clock: Clock; closed: AbortSignal },
  ) {
    const suffix = occasion.callId === null ? '' : `:${occasion.callId}`;
    this.hook = hook;
    this.occasion = occasion;
    this.id = `${separatedName(hook.event, '-')}:${hook.displayOrder}:${hook.sourcePath}${suffix}`;
    this.signal = isAsync(hook) ? closed : AbortSignal.any([occasion.signal, closed]);
    this.#threadId = threadId;
    this.#clock = clock;
    this.#startedAtMs = clock.now();
    this.#startedMs = clock.monotonic();
  }

  /** Whether nobody waits for it. */
  get isAsync(): boolean {
    return isAsync(this.hook);
  }

  /** Notes that it has ended. Returns how long it took, in milliseconds. */
  end(): number {
    this.#durationMs = this.#elapsedMs();
    return this.#durationMs;
  }

  /** The effect of the run, whose context is no longer than the hook may give. */
  bounded({ effect }: HookResult): HookEffect {
    const { contextTokensMax } = this.hook;
    return boundedEffect(
      effect,
      contextTokensMax === null ? null : charsOfTokens(contextTokensMax),
    );
  }

  /** Tells clients that it has begun. */
  started(): Announcement {
    return this.#announcement('hook/started', {
      status: 'running',
      completedAt: null,
      durationMs: null,
      entries: [],
    });
  }

  /** Tells clients that it has ended in this way. */
  completed({ status, entries }: HookResult): Announcement {
    const durationMs = this.#durationMs ?? this.#elapsedMs();
    return this.#announcement('hook/completed', {
      status,
      completedAt: seconds(this.#startedAtMs + durationMs),
      durationMs,
      entries,
    });
  }

  #announcement(
    method: 'hook/started' | 'hook/completed',
    end: Pick<HookRunSummary, 'status' | 'completedAt' | 'durationMs' | 'entries'>,
  ): Announcement {
    const { hook, occasion } = this;
    const run: HookRunSummary = {
      id: this.id,
      eventName: hook.event,
      handlerType: hook.handler.type,
      executionMode: this.isAsync ? 'async' : 'sync',
      scope: hookEvent(hook.event).scope,
      sourcePath: hook.sourcePath,
      source: hook.source,
      displayOrder: hook.displayOrder,
      statusMessage: hook.statusMessage,
      startedAt: seconds(this.#startedAtMs),
      ...end,
    };
    return {
      method,
      params: { threadId: this.#threadId, turnId: occasion.turn?.id ?? null, run },
    };
  }

  #elapsedMs(): number {
    return Math.round(this.#clock.monotonic() - this.#startedMs);
  }
}

/** Whether nobody waits for the runs of this hook. */
export function isAsync({ handler }: HookDefinition): boolean {
  return handler.type === 'command' && handler.isAsync;
}
