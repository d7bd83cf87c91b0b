import type { JsonObject } from '../../base/json-value.ts';
import type { AgentRoles } from '../../config/agents/agent-role.ts';
import type { Config } from '../../config/config.ts';
import type { ContextWindow } from '../../config/providers/context-window.ts';
import type { Model } from '../../model/model.ts';
import type { CommandSettings } from '../../tools/command/command-settings.ts';
import type { ShownReasoning } from '../items/shown-reasoning.ts';
import type { Instructions } from '../prompt/instructions.ts';

/** How a thread's model may start agents. */
export interface AgentSettings {
  /** How many agents of the session may run at a time. */
  running: number;
  /** How deep agents may be nested: 1 means that agents cannot start agents. */
  depth: number;
  /** For agents whose model and effort nobody chose; null: those of the thread that starts them. */
  model: string | null;
  effort: string | null;
  /** The roles that the configuration defines. */
  roles: AgentRoles;
}

/** The configuration of a loaded thread. It is not stored, but made from config.toml at each load. */
export interface ThreadConfiguration {
  /** The settings in effect when the thread was loaded. */
  config: Config;
  /** The settings that the request gave which loaded the thread; null: none. The agents that it starts have them, too. */
  requested: JsonObject | null;
  model: Model;
  /** Why the embedded model answers in place of the one that is configured or requested, and what the administrator does not allow. */
  warnings: readonly string[];
  instructions: Instructions;
  commands: CommandSettings;
  /** Whether the thread may have a goal. */
  goals: boolean;
  /** How the model may start agents; null: not at all. */
  agents: AgentSettings | null;
  /** Whether the model has the tool that asks for permissions. */
  asksForPermissions: boolean;
  /** Whether the model may ask the user questions outside plan mode too. */
  asksInDefaultMode: boolean;
  /** The model that reviews; null: that of the thread. */
  reviewModel: string | null;
  /** How long clients have to answer a question; null: no limit. */
  approvalTimeoutMs: number | null;
  /** Whether the model has the tool that reads local images. */
  viewImage: boolean;
  shownReasoning: ShownReasoning;
  verbosity: string | null;
  /** The context window of this model. */
  contextWindow(model: string): ContextWindow;
  /** Asks the provider for context windows. Never rejects, and takes a second at most. */
  learnContextWindows(): Promise<void>;
  /** The length of a prompt, in tokens, from which the thread is compacted; null: a part of the context window. */
  compactionLimit: number | null;
  /** The user's own prompt for summaries; null: the server's. */
  compactPrompt: string | null;
}
