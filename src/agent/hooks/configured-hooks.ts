import type { JsonObject } from '../../base/json-value.ts';
import { Once } from '../../base/loading/once.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { realPathOrSameLater } from '../../base/paths/real-path.ts';
import { type HookDefinition, isFor, runs } from '../../config/hooks/hook-definition.ts';
import { hookEvent } from '../../config/hooks/hook-events.ts';
import { type MergedEffects, NO_EFFECTS } from '../../hooks/merged-effects.ts';
import type { HookEventName } from '../../protocol/generated/types.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnContext } from '../turn/turn-part.ts';
import { hookInput } from './hook-input.ts';
import type { HookRunner } from './hook-runner.ts';

/** The facts of an event, as the moments of a turn know them. */
export interface Happening {
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

/** The hooks that are configured for a thread, by their events. */
export class ConfiguredHooks {
  readonly #thread: ThreadContext;
  readonly #late: (context: string) => void;
  /** The code that runs hooks is imported at its first use. */
  readonly #runner = new Once<HookRunner>(async () => {
    const code = await import('./hook-runner.ts');
    return new code.HookRunner(this.#thread, this.#late);
  });
  /** The runs that have begun. An interrupt ends the wait for them, and they end soon after. */
  readonly #open = new Set<Promise<unknown>>();

  /** `late`: takes the context that an asynchronous hook gives. */
  constructor(thread: ThreadContext, late: (context: string) => void) {
    this.#thread = thread;
    this.#late = late;
  }

  /** Whether there are hooks of this event. */
  has(event: HookEventName): boolean {
    const { hooks } = this.#thread.state.configuration.config.hooks;
    return hooks.some((hook) => hook.event === event && runs(hook));
  }

  /** The hooks of an event for one of these names. Hooks without a matcher match any. */
  matching(event: HookEventName, names: readonly string[]): HookDefinition[] {
    const { hooks } = this.#thread.state.configuration.config.hooks;
    return hooks.filter((hook) => hook.event === event && runs(hook) && hook.matches(names));
  }

  /** Runs the hooks of an event. Hooks of an event without matchers match any names. */
  run(event: HookEventName, happening: Happening): Promise<MergedEffects> {
    const hooks = this.matching(event, happening.names ?? []);
    if (hooks.length === 0) return Promise.resolve(NO_EFFECTS);
    const run = this.#runAll(event, hooks, happening).finally(() => this.#open.delete(run));
    this.#open.add(run);
    return run;
  }

  /** Resolves when the runs that have begun are over. */
  settled(): Promise<unknown> {
    return Promise.allSettled([...this.#open]);
  }

  /** Kills everything that still runs for hooks. */
  async close(): Promise<void> {
    await (await this.#runner.made)?.close();
  }

  async #runAll(
    event: HookEventName,
    matching: readonly HookDefinition[],
    { turn, facts = {}, callId, signal: own }: Happening,
  ): Promise<MergedEffects> {
    const record = this.#thread.state.record;
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
