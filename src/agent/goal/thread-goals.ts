import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../config/config.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import { goalsDisabled, noGoalsInEphemeral } from '../../protocol/errors/goal-errors.ts';
import { threadArchived } from '../../protocol/errors/thread-errors.ts';
import type { ThreadGoal } from '../../protocol/generated/types.ts';
import type { ThreadRecord } from '../../store/thread-record.ts';
import type { ClientChannel } from '../client-channel.ts';
import type { StoredChange } from '../thread-state.ts';
import {
  changedGoal,
  type GoalChange,
  goalProblem,
  goalView,
  listingPatch,
} from './goal-change.ts';
import { GoalKeeper } from './goal-keeper.ts';

/** Access to the loaded and the stored threads. */
interface GoalThreads {
  /** Rejects with `thread_not_found`. */
  record(threadId: string): Promise<ThreadRecord>;
  /** The part of a loaded thread; null if the thread is not loaded. */
  part(threadId: string, kind: typeof GoalKeeper): GoalKeeper | null;
  /** Changes a thread, unless it is loaded: resolves with null then. Nobody loads it meanwhile. */
  changeStored<Result>(
    threadId: string,
    change: (record: ThreadRecord) => StoredChange<Result>,
  ): Promise<Result | null>;
  /** Lets an idle thread begin a due turn. */
  beginDueTurn(threadId: string): void;
}

interface ThreadGoalsDeps {
  threads: GoalThreads;
  clients: ClientChannel;
  clock: Clock;
  /** Reads the settings that are in effect in a folder. */
  config(cwd: string): Promise<Config>;
}

/** A stored change of a goal. Call `announce` after the request is answered. */
interface Changed<Result> {
  result: Result;
  announce: () => void;
}

/**
 * The goals of all threads, loaded or not. Methods reject with an RpcError if the thread cannot
 * have a goal.
 */
export class ThreadGoals {
  readonly #deps: ThreadGoalsDeps;

  constructor(deps: ThreadGoalsDeps) {
    this.#deps = deps;
  }

  async get(threadId: string): Promise<ThreadGoal | null> {
    const { id, goal } = await this.#record(threadId);
    return goal === null ? null : goalView(id, goal);
  }

  async set(threadId: string, change: GoalChange): Promise<Changed<ThreadGoal>> {
    const { threads, clock } = this.#deps;
    const record = await this.#changeable(threadId);
    const problem = goalProblem(change);
    if (problem !== null) throw problem;
    const keeper = threads.part(record.id, GoalKeeper);
    if (keeper !== null) {
      const announce = () => {
        keeper.announce();
        threads.beginDueTurn(record.id);
      };
      return { result: await keeper.set(change), announce };
    }
    const goal = await threads.changeStored(record.id, (stored) => {
      const now = { threadId: record.id, nowMs: clock.now() };
      const changed = changedGoal(stored.goal, change, now);
      const patch = { ...listingPatch(stored, change), goal: changed };
      return { changes: { patch }, result: goalView(record.id, changed) };
    });
    // It was loaded meanwhile.
    if (goal === null) return this.set(threadId, change);
    return {
      result: goal,
      announce: this.#toEveryone({
        method: 'thread/goal/updated',
        params: { threadId: record.id, turnId: null, goal },
      }),
    };
  }

  /** The result is false if there was no goal. */
  async clear(threadId: string): Promise<Changed<boolean>> {
    const { threads } = this.#deps;
    const record = await this.#changeable(threadId);
    const keeper = threads.part(record.id, GoalKeeper);
    if (keeper !== null) {
      const result = await keeper.clear();
      return { result, announce: () => result && keeper.announce() };
    }
    const isCleared = await threads.changeStored(record.id, ({ goal }) => ({
      changes: goal === null ? null : { patch: { goal: null } },
      result: goal !== null,
    }));
    // It was loaded meanwhile.
    if (isCleared === null) return this.clear(threadId);
    if (!isCleared) return { result: false, announce: () => {} };
    return {
      result: true,
      announce: this.#toEveryone({
        method: 'thread/goal/cleared',
        params: { threadId: record.id },
      }),
    };
  }

  /** Announces to every connection, because a thread that is not loaded has no followers. */
  #toEveryone({ method, params }: Announcement): () => void {
    return () => this.#deps.clients.publish('everyone', method, params);
  }

  async #changeable(threadId: string): Promise<ThreadRecord> {
    const record = await this.#record(threadId);
    if (record.archivedAtMs !== null) throw threadArchived(record.id);
    return record;
  }

  async #record(threadId: string): Promise<ThreadRecord> {
    const { threads, config } = this.#deps;
    const record = await threads.record(threadId);
    const isEnabled =
      threads.part(record.id, GoalKeeper)?.isEnabled ??
      (await config(record.settings.cwd)).get('features.goals');
    if (!isEnabled) throw goalsDisabled();
    if (record.ephemeral) throw noGoalsInEphemeral(record.id);
    return record;
  }
}
