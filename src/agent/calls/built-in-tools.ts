import { resolve } from 'node:path';
import { PausableTimers } from '../../base/pausable-timers.ts';
import type { EnvironmentPolicy } from '../../config/environment-policy.ts';
import { commandEnvironment } from '../../policy/command/command-environment.ts';
import { sandboxBounds } from '../../policy/permissions/sandbox-bounds.ts';
import type { Action, ActionOutcome } from '../../tools/action.ts';
import { ApplyPatch } from '../../tools/apply-patch/apply-patch.ts';
import { patchInCommand } from '../../tools/apply-patch/patch-in-command.ts';
import type { CommandCall } from '../../tools/command/call/command-call.ts';
import type { CommandServices } from '../../tools/command/command-services.ts';
import { commandTools } from '../../tools/command/command-tools.ts';
import { CommandSessions } from '../../tools/command/sessions/command-sessions.ts';
import { UNATTENDED } from '../../tools/command/sessions/unattended.ts';
import { requestPermissions } from '../../tools/request-permissions.ts';
import { requestUserInput } from '../../tools/request-user-input.ts';
import { sandboxFolders } from '../../tools/sandbox-folders.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import { updatePlan } from '../../tools/update-plan.ts';
import { viewImage } from '../../tools/view-image.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnContext, TurnPart } from '../turn/turn-part.ts';

interface KeptEnvironment {
  policy: EnvironmentPolicy;
  exported: Readonly<Record<string, string>>;
  variables: Record<string, string>;
}

/** The tools that every thread has: commands, patches, plans, questions, permissions, images. */
export class BuiltInTools implements TurnPart {
  /** The running commands of the thread. */
  readonly commands: CommandSessions;
  /**
   * The time of waits for commands and of questions. It does not pass while a client asks its user
   * something.
   */
  readonly waits: PausableTimers;
  readonly #thread: ThreadContext;
  readonly #applyPatch: ApplyPatch;
  readonly #requestPermissions: Tool;
  #environment: KeptEnvironment | null = null;
  #offered: { configuration: ThreadConfiguration; tools: readonly Tool[] } | null = null;

  constructor(thread: ThreadContext) {
    const { clock } = thread.services.runtime;
    const { processes, sandbox, home, env } = thread.services.machine;
    this.#thread = thread;
    this.waits = new PausableTimers(clock);
    this.commands = new CommandSessions({ clock, processes, threadId: thread.id });
    this.#applyPatch = new ApplyPatch({
      clock,
      sandbox,
      home,
      env,
      unprotected: () => thread.state.configuration.commands.unprotected,
    });
    this.#requestPermissions = requestPermissions({
      home,
      userHome: env.HOME ?? null,
      now: () => clock.now(),
    });
  }

  /** They are made once for a configuration. */
  tools(soFar: readonly Tool[]): readonly Tool[] {
    const { configuration } = this.#thread.state;
    if (this.#offered?.configuration !== configuration)
      this.#offered = { configuration, tools: this.#toolsOf(configuration) };
    return [...soFar, ...this.#offered.tools];
  }

  #toolsOf({ commands, tools }: ThreadConfiguration): Tool[] {
    return [
      ...(commands.enabled ? commandTools(this.commandServices()) : []),
      this.#applyPatch.tool,
      updatePlan,
      requestUserInput({ inDefaultMode: tools.asksInDefaultMode }),
      ...(tools.asksForPermissions ? [this.#requestPermissions] : []),
      ...(tools.viewImage ? [viewImage(this.#thread.services.machine)] : []),
    ];
  }

  /**
   * The tools with which a model reads files, if the configuration has them: commands and images.
   * They do not reach the commands of other turns, which may run outside of any sandbox.
   */
  readingTools(): Tool[] {
    const { commands, tools } = this.#thread.state.configuration;
    const ofCommands = commands.enabled
      ? commandTools({ ...this.commandServices(), ownTurnOnly: true })
      : [];
    return [...ofCommands, ...(tools.viewImage ? [viewImage(this.#thread.services.machine)] : [])];
  }

  /** Begins to prepare what the turn's commands need, if that takes longer than starting one. */
  turnBegan({ settings }: TurnContext): StepAddition {
    const { state, grants, services } = this.#thread;
    const { machine } = services;
    const { enabled, network } = state.configuration.commands;
    if (!enabled || network(settings) === null) return {};
    const bounds = sandboxBounds(settings.sandboxPolicy, sandboxFolders(settings, machine), {
      granted: grants.permissions,
      managesNetwork: true,
    });
    if (bounds !== null) void machine.processes.prepare(bounds);
    return {};
  }

  /**
   * Forgets the turn's patches. After an interrupt, kills the processes that its finished commands
   * left behind.
   */
  async cleanUp({ id, signal }: TurnContext): Promise<void> {
    this.#applyPatch.endTurn();
    await this.commands.turnEnded(id, { interrupted: signal.aborted });
  }

  /** Kills all running commands of the thread. */
  endWork(): Promise<void> {
    return this.commands.close();
  }

  /** The services of the thread's commands, by its current configuration. */
  commandServices(): CommandServices {
    const { runtime, machine } = this.#thread.services;
    const { commands: settings, instructions } = this.#thread.state.configuration;
    const { shellExports } = machine;
    const shell = settings.shellSnapshot ? shellExports : shellExports.switchedOff;
    return {
      clock: runtime.clock,
      waits: this.waits,
      machine,
      sessions: this.commands,
      settings,
      shell,
      environment: () => this.#environmentOf(settings.environment, shell.variables),
      skillFolders: () => instructions.skillFolders,
      preparePatch: (call, context) => this.#preparePatch(call, context),
    };
  }

  /**
   * The environment of the thread's commands, worked out once for a policy and what the user's
   * shell exports.
   */
  #environmentOf(
    policy: EnvironmentPolicy,
    exported: Readonly<Record<string, string>>,
  ): Record<string, string> {
    if (this.#environment?.policy !== policy || this.#environment.exported !== exported) {
      const { env } = commandEnvironment(
        { ...this.#thread.services.machine.env, ...exported },
        policy,
        UNATTENDED,
      );
      this.#environment = { policy, exported, variables: env };
    }
    return this.#environment.variables;
  }

  /** Prepares the patch of a command that only applies a patch; null for any other command. */
  async #preparePatch(
    { script, cwd }: CommandCall,
    context: CallContext,
  ): Promise<Action | ActionOutcome | null> {
    const found = script === null ? null : patchInCommand(script);
    if (found === null) return null;
    return this.#applyPatch.prepare(
      { patch: found.patch, folder: resolve(cwd, found.folder ?? '') },
      context,
    );
  }
}
