import { resolve } from 'node:path';
import { resolveLinks } from '../../base/follow-path.ts';
import { commandEnvironment } from '../../policy/command/command-environment.ts';
import { Grants } from '../../policy/permissions/grants.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { StoredItem } from '../../store/thread-store.ts';
import { ApplyPatch } from '../../tools/apply-patch/apply-patch.ts';
import { patchInCommand } from '../../tools/apply-patch/patch-in-command.ts';
import type { CommandCall } from '../../tools/command/call/command-call.ts';
import type { CommandDeps } from '../../tools/command/command-deps.ts';
import { commandTools } from '../../tools/command/command-tools.ts';
import { CommandSessions } from '../../tools/command/sessions/command-sessions.ts';
import { UNATTENDED } from '../../tools/command/sessions/unattended.ts';
import type { UserCommand } from '../../tools/command/user-command.ts';
import { goalTools } from '../../tools/goal-tools.ts';
import { requestPermissions } from '../../tools/request-permissions.ts';
import { requestUserInput } from '../../tools/request-user-input.ts';
import type { Tool, ToolContext, ToolResult } from '../../tools/tool.ts';
import { updatePlan } from '../../tools/update-plan.ts';
import { viewImage } from '../../tools/view-image.ts';
import { ThreadItems } from '../items/thread-items.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import { isToolCall } from './run-tool-calls.ts';
import type { ThreadToolsDeps } from './thread-tools-deps.ts';
import { turnApprovals } from './turn-approvals.ts';

/** What the model can call in a thread, and what of it outlives a turn. */
export class ThreadTools {
  readonly #surroundings: ThreadToolsDeps;
  readonly #grants = new Grants(resolveLinks);
  readonly #items: ThreadItems;
  readonly #itemIds = new Set<string>();
  #knowsHistory = false;
  /** The commands that run. */
  readonly commands: CommandSessions;
  readonly #applyPatch: ApplyPatch;
  readonly #requestPermissions: Tool;

  constructor(surroundings: ThreadToolsDeps) {
    const { clock, processes, home, env } = surroundings.deps;
    this.#surroundings = surroundings;
    this.#items = new ThreadItems(surroundings);
    this.commands = new CommandSessions({ clock, processes, threadId: surroundings.state.id });
    this.#applyPatch = new ApplyPatch({ clock, home, env });
    this.#requestPermissions = requestPermissions({ home, userHome: env.HOME ?? null, now: () => clock.now() });
  }

  /** What the model can call now. */
  list(): Tool[] {
    const { goal, state, deps } = this.#surroundings;
    return [
      ...(state.configuration.commands.enabled ? commandTools(this.#commandDeps()) : []),
      this.#applyPatch.tool,
      updatePlan,
      requestUserInput,
      ...(state.configuration.asksForPermissions ? [this.#requestPermissions] : []),
      ...(state.configuration.viewImage ? [viewImage(deps)] : []),
      ...(goal.available ? goalTools(goal) : []),
    ];
  }

  /** What users have granted for the session, between turns. */
  get granted(): readonly GrantedPermissions[] {
    return this.#grants.permissions;
  }

  /** What a tool is told for one call. */
  context(turn: ActiveTurn, callId: string): ToolContext {
    const { state, outbox } = this.#surroundings;
    return {
      threadId: state.id,
      turnId: turn.id,
      callId,
      itemId: this.#itemId(callId),
      get settings() {
        return turn.settings;
      },
      emit: (announcement) => outbox.commit({ announce: [announcement] }),
      items: this.#items.ofTurn(turn.id),
      approvals: turnApprovals(this.#surroundings, { turn, grants: this.#grants }),
    };
  }

  /** Takes note of the calls that the thread has on record. */
  know(history: readonly ResponseItem[]): void {
    if (this.#knowsHistory) return;
    this.#knowsHistory = true;
    for (const item of history) if (isToolCall(item)) this.#itemIds.add(item.call_id);
  }

  /** Runs a command of the user's; gives what the model is to read of it. Rejects with the store's error alone. */
  async runUserCommand(turn: ActiveTurn, command: UserCommand): Promise<ResponseItem> {
    const { runUserCommand } = await import('../../tools/command/user-command.ts');
    return runUserCommand(command, this.context(turn, this.#surroundings.deps.ids.next()), this.#commandDeps(), turn.signal);
  }

  get threadId(): string {
    return this.#surroundings.state.id;
  }

  /** Takes back what was allowed for a turn that ends, and kills what must not outlive it. Never rejects. */
  async endTurn({ id, signal }: ActiveTurn): Promise<void> {
    this.#grants.endTurn();
    this.#applyPatch.turnEnded();
    try {
      await this.commands.turnEnded(id, { interrupted: signal.aborted });
    } catch (error) {
      this.#surroundings.deps.log.error({ err: error, threadId: this.threadId }, 'what a turn left behind could not be killed');
    }
  }

  /** The items of a turn that ends which run on: from now on they complete behind its end. */
  runningOn(turnId: string): StoredItem[] {
    return this.#items.runOn(turnId);
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    await this.commands.close();
  }

  #commandDeps(): CommandDeps {
    const { state, deps } = this.#surroundings;
    const { clock, processes, home, env } = deps;
    const { environment, limits } = state.configuration.commands;
    return {
      clock,
      processes,
      sessions: this.commands,
      home,
      env,
      environment: () => commandEnvironment(env, environment, UNATTENDED).env,
      limits,
      patchIn: (call, context, signal) => this.#patchIn(call, context, signal),
    };
  }

  /** Applies the patch that a command line is nothing but; null for any other. */
  async #patchIn({ script, cwd }: CommandCall, context: ToolContext, signal: AbortSignal): Promise<ToolResult | null> {
    const found = script === null ? null : patchInCommand(script);
    if (found === null) return null;
    return this.#applyPatch.apply({ patch: found.patch, folder: resolve(cwd, found.folder ?? '') }, context, signal);
  }

  /** Providers may give an id again in a later response; of an item's there is one in a thread. */
  #itemId(callId: string): string {
    const id = this.#itemIds.has(callId) ? this.#surroundings.deps.ids.next() : callId;
    this.#itemIds.add(id);
    return id;
  }
}
