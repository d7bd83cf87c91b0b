import type { Grants } from '../../policy/permissions/grants.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';
import type { AgentDeps } from '../agent-deps.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { mergedSteps } from '../outbox/step.ts';
import type { PromptHistory } from '../prompt/prompt-history.ts';
import type { ThreadState } from '../thread-state.ts';
import type {
  CompactionTrigger,
  McpCall,
  ThreadOrigin,
  TurnContext,
  TurnPartDeps,
} from './turn-part.ts';
import { TurnParts } from './turn-parts.ts';

/** How many turns are read to find the last one that was not a review. */
const TURNS_READ_MAX = 8;

interface ThreadPartsDeps {
  state: ThreadState;
  outbox: Outbox;
  agent: AgentDeps;
  history: PromptHistory;
  grants: Grants;
  /** Resolves when a turn that is being begun has begun. */
  turnBegun(): Promise<void>;
  /** How the thread came to be loaded. */
  origin: ThreadOrigin;
}

/** Creates one part of each kind for a loaded thread. */
export function threadParts({
  state,
  outbox,
  agent,
  history,
  grants,
  turnBegun,
  origin,
}: ThreadPartsDeps): TurnParts {
  const {
    clock,
    ids,
    log,
    processes,
    sandbox,
    proxies,
    shellExports,
    mcp,
    home,
    env,
    http,
    partKinds,
    promptBudget,
    store,
    modelFor,
    agents,
    lastPrograms,
  } = agent;
  const deps: TurnPartDeps = {
    threadId: state.id,
    clock,
    ids,
    outbox,
    log,
    history,
    promptBudget,
    proxies,
    shellExports,
    mcp,
    toolApprovals: agent.toolApprovals,
    processes,
    sandbox,
    home,
    env,
    http,
    record: () => state.record,
    configuration: () => state.configuration,
    keep: (patch: ThreadPatch) => state.keep(patch),
    granted: () => grants.permissions,
    lastUsage: () => state.lastUsage,
    tokensStep: (turn: TurnContext, usage: TokenUsageBreakdown) =>
      mergedSteps([
        state.tokensStep(turn, usage, { isAside: true }),
        parts.tokensUsed(turn, usage),
      ]),
    promptStep: (turn: TurnContext, tokens: number) => state.promptStep(turn, tokens),
    tools: (signal: AbortSignal) => parts.tools(signal),
    compacted: (turn: TurnContext) => parts.compacted(turn),
    lastTurnError: async () => {
      const { data } = await store.listTurns(state.id, {
        direction: 'desc',
        limit: TURNS_READ_MAX,
        view: 'notLoaded',
      });
      for (const turn of data) {
        if (turn.status === 'inProgress') continue;
        const { data: items } = await store.listItems(state.id, {
          turnId: turn.id,
          direction: 'asc',
          limit: 1,
        });
        if (items[0]?.item.type !== 'enteredReviewMode') return turn.error;
      }
      return null;
    },
    turnBegun,
    origin,
    lastPrograms,
    beforeCompaction: async (turn: TurnContext, trigger: CompactionTrigger) => {
      const isStopped = await parts.beforeCompaction(turn, trigger);
      if (isStopped) state.turn?.interrupt('hook');
      return isStopped;
    },
    afterCompaction: async (turn: TurnContext, trigger: CompactionTrigger) => {
      if (await parts.afterCompaction(turn, trigger)) state.turn?.interrupt('hook');
    },
    callMcpTool: (call: McpCall, signal: AbortSignal) => parts.callMcpTool(call, signal),
    modelFor,
    agents,
  };
  const parts: TurnParts = new TurnParts(
    partKinds.map((kind) => kind.create(deps)),
    { threadId: state.id, log },
  );
  return parts;
}
