import { changedGoal, type GoalChange, goalProblem, goalView, previewPatch } from '../../agent/goal/goal-change.ts';
import type { Config } from '../../config/config.ts';
import type { ThreadGoalSetParams } from '../../protocol/generated/types.ts';
import { goalsDisabled, noGoalsInEphemeral, threadArchived } from '../../protocol/rpc-error.ts';
import type { ThreadPatch, ThreadRecord } from '../../store/thread-store.ts';
import { type MethodTable, perThread } from '../method.ts';
import type { ThreadDeps } from '../thread-deps.ts';

interface GoalDeps extends ThreadDeps {
  /** The configuration for a folder. Reads the files at each call. */
  config: (cwd: string | null) => Promise<Config>;
}

export function goalMethods(deps: GoalDeps) {
  const { threads, publisher, clock } = deps;
  return {
    'thread/goal/set': {
      queue: perThread,
      async handle(params, { after }) {
        const record = await goalThread(deps, params.threadId);
        if (record.archivedAtMs !== null) throw threadArchived(record.id);
        const change = goalChange(params);
        const loaded = threads.find(record.id);
        if (loaded !== null) {
          const goal = await loaded.goal.set(change);
          after(() => {
            loaded.goal.announce();
            threads.continueGoal(loaded.id);
          });
          return { goal };
        }
        const changed = changedGoal(record.goal, change, { threadId: record.id, nowMs: clock.now() });
        await patchStored(deps, record.id, { ...previewPatch(record, change), goal: changed });
        const goal = goalView(record.id, changed);
        after(() => publisher.publish('everyone', 'thread/goal/updated', { threadId: record.id, turnId: null, goal }));
        return { goal };
      },
    },

    'thread/goal/get': {
      queue: perThread,
      async handle({ threadId }) {
        const { id, goal } = await goalThread(deps, threadId);
        return { goal: goal === null ? null : goalView(id, goal) };
      },
    },

    'thread/goal/clear': {
      queue: perThread,
      async handle({ threadId }, { after }) {
        const record = await goalThread(deps, threadId);
        if (record.archivedAtMs !== null) throw threadArchived(record.id);
        const loaded = threads.find(record.id);
        if (loaded !== null) {
          const cleared = await loaded.goal.clear();
          if (cleared) after(() => loaded.goal.announce());
          return { cleared };
        }
        if (record.goal === null) return { cleared: false };
        await patchStored(deps, record.id, { goal: null });
        after(() => publisher.publish('everyone', 'thread/goal/cleared', { threadId: record.id }));
        return { cleared: true };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** The thread's record. Throws if the thread cannot have a goal. */
async function goalThread({ threads, config }: GoalDeps, threadId: string): Promise<ThreadRecord> {
  const record = await threads.record(threadId);
  const loaded = threads.find(record.id);
  const enabled = loaded === null ? (await config(record.settings.cwd)).get('features.goals') : loaded.configuration.goals;
  if (!enabled) throw goalsDisabled();
  if (record.ephemeral) throw noGoalsInEphemeral(record.id);
  return record;
}

function goalChange({ objective, status, tokenBudget }: ThreadGoalSetParams): GoalChange {
  const change = { objective: objective ?? null, status: status ?? null, tokenBudget };
  const problem = goalProblem(change);
  if (problem !== null) throw problem;
  return change;
}

/** Rejects if another process has loaded the thread: that process holds the goal in memory and would overwrite this change. */
async function patchStored({ store }: ThreadDeps, threadId: string, patch: ThreadPatch): Promise<void> {
  const writer = await store.openWriter(threadId);
  try {
    await writer.append([], { patch });
  } finally {
    await writer.close();
  }
}
