import type { Clock } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Ids } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { McpServers } from '../../mcp/mcp-servers.ts';
import type { Model } from '../../model/model.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { Processes } from '../../sandbox/processes/processes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadPatch, ThreadRecord } from '../../store/thread-record.ts';
import type { CommandProxies } from '../../tools/command/network/command-proxies.ts';
import type { ShellExports } from '../../tools/command/snapshot/shell-exports.ts';
import type { Tool } from '../../tools/tool.ts';
import type { LastPrograms } from '../last-programs.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { LastUsage } from '../prompt/check-window.ts';
import type { PromptBudget } from '../prompt/prompt-budget.ts';
import type { PromptHistory } from '../prompt/prompt-history.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { AgentTree } from '../sub-agents/agent-tree.ts';
import type {
  CompactionTrigger,
  McpCall,
  ThreadOrigin,
  TurnContext,
  TurnPart,
} from './turn-part.ts';

/** The collaborators of a part. */
export interface TurnPartDeps {
  readonly threadId: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly history: PromptHistory;
  readonly promptBudget: PromptBudget;
  readonly processes: Processes;
  readonly sandbox: Sandbox;
  /** Opens the proxies of commands. */
  readonly proxies: CommandProxies;
  /** The variables that commands get from the user's shell. */
  readonly shellExports: ShellExports;
  /** The MCP servers that threads share. */
  readonly mcp: McpServers;
  /** Absolute: heddle's home. */
  readonly home: string;
  /** The server's own environment. */
  readonly env: Env;
  record(): ThreadRecord;
  configuration(): ThreadConfiguration;
  modelFor(provider: ProviderConfig): Promise<Model>;
  /** Changes the record in memory at once. The caller stores the change, through the outbox. */
  keep(patch: ThreadPatch): void;
  /** The permissions that users have granted for the session. */
  granted(): readonly GrantedPermissions[];
  /** The tokens that the provider counted for the thread's last response; null: unknown. */
  lastUsage(): LastUsage | null;
  /**
   * Adds the usage of a request aside to the thread's token usage at once, and returns the step
   * that stores and announces it.
   */
  tokensStep(turn: TurnContext, usage: TokenUsageBreakdown): StepAddition;
  /**
   * Notes at once how many tokens the thread's prompt has now, and returns the step that stores and
   * announces it.
   */
  promptStep(turn: TurnContext, tokens: number): Required<Pick<StepAddition, 'patch' | 'announce'>>;
  /** The tools that all parts offer for the thread's next request. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  /**
   * The messages that all parts tell the model again in a turn in which it has forgotten what it
   * read.
   */
  compacted(turn: TurnContext): AuthoredItem[];
  /**
   * The error of the thread's last turn that has ended and was not a review; null: there is none.
   * Reads the store.
   */
  lastTurnError(): Promise<TurnError | null>;
  /** How the thread came to be loaded. */
  readonly origin: ThreadOrigin;
  /** The programs of the user that run at the ends of turns and threads, of all threads. */
  readonly lastPrograms: Pick<LastPrograms, 'places' | 'over'>;
  /**
   * Asks all parts before a compaction. Returns whether one stops it; the turn is then interrupted.
   */
  beforeCompaction(turn: TurnContext, trigger: CompactionTrigger): Promise<boolean>;
  /** Tells all parts of a compaction. If one stops the turn, it is interrupted. */
  afterCompaction(turn: TurnContext, trigger: CompactionTrigger): Promise<void>;
  /**
   * Calls a tool of an MCP server, without asking anybody. Null: no part has a server of this name.
   * Rejects if the call fails.
   */
  callMcpTool(call: McpCall, signal: AbortSignal): Promise<string> | null;
  /** The agents that threads have started. */
  readonly agents: AgentTree;
  /** Resolves when a turn that is being begun has begun. */
  turnBegun(): Promise<void>;
}

/** A kind of part: every loaded thread has one part of each kind. */
export interface TurnPartKind {
  create(deps: TurnPartDeps): TurnPart;
  /** The change that a revert makes to the record of a thread, loaded or not. */
  reverted?(record: ThreadRecord): ThreadPatch;
}

/** The changes that a revert makes to the record of a thread, from all kinds of parts. */
export function revertedPatch(kinds: readonly TurnPartKind[], record: ThreadRecord): ThreadPatch {
  return Object.assign({}, ...kinds.map((kind) => kind.reverted?.(record) ?? {})) as ThreadPatch;
}
