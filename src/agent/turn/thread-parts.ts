import type { Grants } from '../../policy/permissions/grants.ts';
import type { TurnError } from '../../protocol/generated/types.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { mergedSteps } from '../outbox/step.ts';
import type { PromptHistory } from '../prompt/prompt-history.ts';
import type { Services } from '../services.ts';
import type { ThreadState } from '../thread-state.ts';
import type { ThreadOrigin } from './turn-part.ts';
import type { TurnPartDeps, TurnPartKind } from './turn-part-deps.ts';
import { TurnParts } from './turn-parts.ts';

/** How many turns are read to find the last one that was not a review. */
const TURNS_READ_MAX = 8;

interface ThreadPartsDeps {
  /** In the order in which their parts act. */
  kinds: readonly TurnPartKind[];
  state: ThreadState;
  outbox: Outbox;
  services: Services;
  history: PromptHistory;
  grants: Grants;
  /** Resolves when a turn that is being begun has begun. */
  turnBegun(): Promise<void>;
  /** How the thread came to be loaded. */
  origin: ThreadOrigin;
}

/** Creates one part of each kind for a loaded thread. */
export function threadParts({
  kinds,
  state,
  outbox,
  services,
  history,
  grants,
  turnBegun,
  origin,
}: ThreadPartsDeps): TurnParts {
  const deps: TurnPartDeps = {
    ...services,
    ...services.runtime,
    ...services.machine,
    ...services.limits,
    modelFor: services.providers.modelFor,
    threadId: state.id,
    outbox,
    history,
    turnBegun,
    origin,
    record: () => state.record,
    configuration: () => state.configuration,
    keep: (patch) => state.keep(patch),
    granted: () => grants.permissions,
    lastUsage: () => state.lastUsage,
    tokensStep: (turn, usage) =>
      mergedSteps([
        state.tokensStep(turn, usage, { isAside: true }),
        parts.tokensUsed(turn, usage),
      ]),
    promptStep: (turn, tokens) => state.promptStep(turn, tokens),
    tools: (signal) => parts.tools(signal),
    compacted: (turn) => parts.compacted(turn),
    lastTurnError: () => lastTurnError(services.store, state.id),
    beforeCompaction: async (turn, trigger) => {
      const isStopped = await parts.beforeCompaction(turn, trigger);
      if (isStopped) state.turn?.interrupt('hook');
      return isStopped;
    },
    afterCompaction: async (turn, trigger) => {
      if (await parts.afterCompaction(turn, trigger)) state.turn?.interrupt('hook');
    },
    callMcpTool: (call, signal) => parts.calls.callMcpTool(call, signal),
  };
  const parts: TurnParts = new TurnParts(
    kinds.map((kind) => kind.create(deps)),
    { threadId: state.id, log: services.runtime.log },
  );
  return parts;
}

async function lastTurnError(store: ThreadStore, threadId: string): Promise<TurnError | null> {
  const { data } = await store.listTurns(threadId, {
    direction: 'desc',
    limit: TURNS_READ_MAX,
    view: 'notLoaded',
  });
  for (const turn of data) {
    if (turn.status === 'inProgress') continue;
    const { data: items } = await store.listItems(threadId, {
      turnId: turn.id,
      direction: 'asc',
      limit: 1,
    });
    if (items[0]?.item.type !== 'enteredReviewMode') return turn.error;
  }
  return null;
}
