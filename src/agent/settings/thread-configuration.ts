import type { JsonObject } from '../../base/json-value.ts';
import type { AgentRoles } from '../../config/agents/agent-role.ts';
import type { Config } from '../../config/config.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { ContextWindow } from '../../config/providers/context-window.ts';
import type { WebSearch } from '../../config/web-search.ts';
import type { Model } from '../../model/model.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
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
  /** The efforts that the models of the provider may have. */
  efforts: readonly string[];
  /** The roles that the configuration defines. */
  roles: AgentRoles;
}

/** The tools that a thread's model has, and how long clients may take for them. */
interface ToolSettings {
  /** Whether the model has the tool that asks for permissions. */
  asksForPermissions: boolean;
  /** Whether the model may ask the user questions outside plan mode too. */
  asksInDefaultMode: boolean;
  /** Whether the model has the tool that reads local images. */
  viewImage: boolean;
  /** How the provider searches the web in a turn with these settings; null: not at all. */
  webSearch(settings: ThreadSettings): WebSearch | null;
  /** Whether this model can search for tools by a tool of the provider's API. */
  searchesTools(model: string): boolean;
  /** How long clients have to answer a question; null: no limit. */
  approvalTimeoutMs: number | null;
  /** How long a client may run a tool that it provides; null: no limit. */
  clientToolTimeoutMs: number | null;
}

/** How a thread's model responds, and what clients see of it. */
interface ResponseSettings {
  verbosity: string | null;
  shownReasoning: ShownReasoning;
  /** The model that reviews; null: that of the thread. */
  readonly reviewModel: string | null;
}

/** How long the prompt of a thread may be, and how it is compacted. */
export interface PromptSettings {
  /** The context window of this model. */
  contextWindow(model: string): ContextWindow;
  /**
   * Asks the provider for context windows. Resolves with a warning for clients if that of this
   * model is short; null: it is not, or not known. Never rejects, and takes five seconds at most.
   */
  learnContextWindow(model: string): Promise<string | null>;
  /**
   * The length of a prompt, in tokens, from which the thread is compacted; null: a part of the
   * context window.
   */
  compactionLimit: number | null;
  /**
   * Whether this counts only what has come after the prefix of the prompt: after its context, or
   * after a summary, and the input there.
   */
  limitsBody: boolean;
  /** The user's own prompt for summaries; null: the server's. */
  compactPrompt: string | null;
}

/**
 * The configuration of a loaded thread. It is not stored, but made from config.toml at each load.
 */
export interface ThreadConfiguration {
  /** The settings in effect when the thread was loaded. */
  config: Config;
  /**
   * The settings that the request gave which loaded the thread; null: none. The agents that it
   * starts have them, too.
   */
  requested: JsonObject | null;
  model: Model;
  /**
   * Why the embedded model answers in place of the one that is configured or requested, and what
   * the administrator does not allow.
   */
  warnings: readonly string[];
  instructions: Instructions;
  commands: CommandSettings;
  /** The MCP servers, and how to read them anew. */
  mcp: { settings: McpSettings; readAgain(): Promise<McpSettings> };
  /** Whether the thread may have a goal. */
  goals: boolean;
  /** How the model may start agents; null: not at all. */
  agents: AgentSettings | null;
  tools: ToolSettings;
  responses: ResponseSettings;
  prompt: PromptSettings;
}
