import { setVariables } from '../../base/env.ts';
import { EventLoopYield } from '../../base/event-loop-yield.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { Semaphore } from '../../base/semaphore.ts';
import { type JsonText, jsonText } from '../../base/text/json-text.ts';
import { type HookDefinition, hookName } from '../../config/hooks/hook-definition.ts';
import { fillPlaceholders } from '../../hooks/fill-placeholders.ts';
import { failedHook, type HookEffect, type HookResult } from '../../hooks/hook-result.ts';
import { type MergedEffects, mergedEffects, NO_EFFECTS } from '../../hooks/merged-effects.ts';
import { failedCheck, readHookText, readOutput } from '../../hooks/read-output.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import { awaitKill } from '../../sandbox/processes/await-kill.ts';
import { outOfTime, runProgram, STOPPED_EARLY } from '../../sandbox/run-program.ts';
import { StoreError } from '../../store/store-error.ts';
import { shellArgv, userShell } from '../../tools/command/call/user-shell.ts';
import { McpTools } from '../mcp/mcp-tools.ts';
import type { ThreadContext } from '../thread-context.ts';
import { HookRun, isAsync, type Occasion } from './hook-run.ts';
import { ModelHooks } from './model-hooks.ts';

/** How many hooks of a thread run at a time that somebody waits for. The others wait. */
const PARALLEL_MAX = 16;
/** How many asynchronous hooks of a thread may run. */
const ASYNC_MAX = 32;
/** The owner of all processes of hooks, below the thread. */
const OWNER = 'hooks';

type McpHandler = Extract<HookDefinition['handler'], { type: 'mcpTool' }>;

/** Runs the hooks of a thread: those of one event side by side. Tells clients of each run. */
export class HookRunner {
  readonly #thread: ThreadContext;
  readonly #places = new Semaphore(PARALLEL_MAX);
  readonly #late: (context: string) => void;
  readonly #models: ModelHooks;
  readonly #breaks = new EventLoopYield();
  #closed = new AbortController();
  /** The runs of asynchronous hooks. */
  readonly #aside = new Set<Promise<void>>();
  #started = 0;

  /** `late`: takes the context that an asynchronous hook gives. */
  constructor(thread: ThreadContext, late: (context: string) => void) {
    this.#thread = thread;
    this.#late = late;
    this.#models = new ModelHooks(thread, this.#breaks);
  }

  /**
   * Runs the hooks, and returns what they decide. Does not wait for asynchronous ones. Rejects only
   * with the store's error.
   */
  async run(occasion: Occasion): Promise<MergedEffects> {
    if (occasion.signal.aborted) return NO_EFFECTS;
    // Taken now: runs of an event before the thread is closed must not outlive that.
    const closed = this.#closed.signal;
    // Once for all hooks: it may be long.
    const input = await jsonText(occasion.input, this.#breaks);
    const { id: threadId } = this.#thread;
    const { clock } = this.#thread.services.runtime;
    const begun = (hook: HookDefinition) =>
      new HookRun(hook, occasion, { threadId, clock, closed });
    const waited = occasion.hooks.filter((hook) => !isAsync(hook)).map(begun);
    for (const hook of occasion.hooks.filter(isAsync)) {
      const aside = this.#runAside(begun(hook), input).finally(() => this.#aside.delete(aside));
      this.#aside.add(aside);
    }
    await this.#announce(waited.map((run) => run.started()));
    const results = waited.map((run) => this.#result(run, input));
    // They are awaited one after another, and a later one may reject before.
    for (const result of results) result.catch(() => {});
    const ended: { runId: string; effect: HookEffect }[] = [];
    for (const [index, run] of waited.entries()) {
      const result = (await results[index]) ?? failedHook('it failed inside the server');
      await this.#announce([run.completed(result)]);
      ended.push({ runId: run.id, effect: run.bounded(result) });
    }
    return mergedEffects(ended);
  }

  /**
   * Kills everything that still runs for hooks. Resolves when clients know the ends of all runs.
   */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#closed = new AbortController();
    const { id: threadId } = this.#thread;
    const { clock } = this.#thread.services.runtime;
    const { processes } = this.#thread.services.machine;
    if (this.#started > 0) await awaitKill(processes.killOwned([threadId, OWNER]), clock);
    await Promise.all(this.#aside);
  }

  /** Runs a hook that nobody waits for. Never rejects. */
  async #runAside(run: HookRun, input: JsonText): Promise<void> {
    const isTooMany = this.#aside.size >= ASYNC_MAX;
    try {
      await this.#announce([run.started()]);
      const result = isTooMany
        ? failedHook(`${ASYNC_MAX} asynchronous hooks of the thread run already`)
        : await this.#result(run, input);
      await this.#announce([run.completed(result)]);
      const { context } = run.bounded(result);
      if (context !== undefined) this.#late(context);
    } catch (error) {
      this.#thread.services.runtime.log.error(
        { err: error, threadId: this.#thread.id },
        'an asynchronous hook failed inside the server',
      );
    }
  }

  /**
   * A check by a model that fails in any way counts as no. Never rejects, except with the store's
   * error.
   */
  async #result(run: HookRun, input: JsonText): Promise<HookResult> {
    const result = await this.#placed(run, input);
    const { type } = run.hook.handler;
    return result.status === 'failed' && (type === 'prompt' || type === 'agent')
      ? failedCheck(run.occasion.event, result)
      : result;
  }

  async #placed(run: HookRun, input: JsonText): Promise<HookResult> {
    const { hook, signal } = run;
    const { id: threadId } = this.#thread;
    const { log } = this.#thread.services.runtime;
    const isWaitedFor = !run.isAsync;
    if (isWaitedFor && !(await this.#places.take(signal))) return failedHook(STOPPED_EARLY);
    try {
      const result = await this.#handled(run, input);
      const ms = run.end();
      log.info({ threadId, key: hook.key, status: result.status, ms }, 'a hook ended');
      return result;
    } catch (error) {
      if (error instanceof StoreError) throw error;
      log.error({ err: error, threadId, key: hook.key }, 'a hook failed inside the server');
      return failedHook(
        `it failed inside the server: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      if (isWaitedFor) this.#places.release();
    }
  }

  async #handled(run: HookRun, input: JsonText): Promise<HookResult> {
    const { handler } = run.hook;
    const { event, turn } = run.occasion;
    switch (handler.type) {
      case 'command':
        return readOutput(event, await this.#command(run, handler.command, input));
      case 'mcpTool':
        return this.#within(run, (signal) => this.#mcpTool(run, handler, signal));
      case 'prompt':
      case 'agent':
        if (turn === null) return failedHook('no turn is running, so there is no model to ask');
        return this.#within(run, (signal) =>
          this.#models.run({ event, handler, input, turn }, signal),
        );
      default:
        return handler satisfies never;
    }
  }

  #command(run: HookRun, command: string, input: JsonText) {
    const { hook, occasion, signal } = run;
    const { id: threadId } = this.#thread;
    const { clock } = this.#thread.services.runtime;
    const { env, processes } = this.#thread.services.machine;
    const program = {
      argv: shellArgv(userShell(env), command, { login: false }),
      cwd: hook.projectFolder ?? occasion.cwd,
      env: setVariables(env),
      input: input.parts,
      timeoutSec: hook.timeoutSec,
      owner: [threadId, OWNER, String(++this.#started)],
      of: hookName(hook),
    };
    return runProgram(program, { processes, clock }, signal);
  }

  async #mcpTool(
    { occasion }: HookRun,
    { server, tool, input }: McpHandler,
    signal: AbortSignal,
  ): Promise<HookResult> {
    const { event, input: facts } = occasion;
    const filled = fillPlaceholders(input, facts);
    if ('missing' in filled)
      return failedHook(
        `the event has no field ${filled.missing.join(', ')}, which the input of the hook names`,
      );
    const mcp = this.#thread.parts.get(McpTools);
    const answer = mcp.callAside({ server, tool, input: filled.input }, signal);
    if (answer === null) return failedHook(`there is no MCP server named ${server}`);
    const outcome = await answer.then(
      (text) => ({ text }),
      (error: unknown) => ({ problem: error instanceof Error ? error.message : String(error) }),
    );
    return 'problem' in outcome
      ? failedHook(`the call of the tool ${tool} failed: ${outcome.problem}`)
      : readHookText(event, outcome.text);
  }

  /** Does work that ends at the time limit of the hook, or with its run. */
  async #within(
    run: HookRun,
    work: (signal: AbortSignal) => Promise<HookResult>,
  ): Promise<HookResult> {
    const timeout = new AbortController();
    const { timeoutSec } = run.hook;
    const timer = this.#thread.services.runtime.clock.setTimer(
      () => timeout.abort(),
      timeoutSec * 1000,
    );
    const over = AbortSignal.any([run.signal, timeout.signal]);
    try {
      const result = await orAborted(work(over), over);
      if (timeout.signal.aborted) return failedHook(outOfTime(timeoutSec));
      return result ?? failedHook(STOPPED_EARLY);
    } finally {
      timer.clear();
    }
  }

  async #announce(announcements: readonly Announcement[]): Promise<void> {
    if (announcements.length > 0) await this.#thread.outbox.announce(announcements);
  }
}
