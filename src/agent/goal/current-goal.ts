import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadGoal } from '../../protocol/generated/types.ts';
import type { GoalRecord } from '../../store/goal-record.ts';
import type { ThreadPatch } from '../../store/thread-record.ts';
import type { StepAddition } from '../outbox/step.ts';
import type { ThreadContext } from '../thread-context.ts';
import { goalView } from './goal-change.ts';

/**
 * The goal in the record of a loaded thread. It changes in memory at once; the store and clients
 * follow in the order of the thread's other steps.
 */
export class CurrentGoal {
  readonly #thread: ThreadContext;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
  }

  get record(): GoalRecord | null {
    return this.#thread.state.record.goal;
  }

  /** The goal as clients see it. */
  get shown(): ThreadGoal | null {
    const goal = this.record;
    return goal === null ? null : goalView(this.#thread.id, goal);
  }

  /** Whether the configuration lets the thread have a goal. */
  get isEnabled(): boolean {
    return this.#thread.state.configuration.goals;
  }

  /** Whether the thread may have a goal. */
  get isAvailable(): boolean {
    return this.isEnabled && !this.#thread.state.record.ephemeral;
  }

  /**
   * The announcement of the goal as it is now. `turnId`: the turn whose work changed it, or null.
   */
  announcement(turnId: string | null): Announcement {
    const { id: threadId } = this.#thread;
    const goal = this.isAvailable ? this.shown : null;
    if (goal === null) return { method: 'thread/goal/cleared', params: { threadId } };
    return { method: 'thread/goal/updated', params: { threadId, turnId, goal } };
  }

  /**
   * Stores a goal, and announces it if `turnId` is given. If the store fails, the goal before is
   * restored, unless it has changed again.
   */
  async store(
    patch: ThreadPatch & { goal: GoalRecord | null },
    turnId: string | null = null,
  ): Promise<void> {
    const { goal, listed, preview, previewIsCommand } = this.#thread.state.record;
    this.#thread.state.keep(patch);
    try {
      await this.#thread.outbox.commit({
        patch,
        announce: turnId === null ? [] : [this.announcement(turnId)],
      });
    } catch (error) {
      if (this.record === patch.goal)
        this.#thread.state.keep({ goal, listed, preview, previewIsCommand });
      throw error;
    }
  }

  /**
   * Changes the goal in memory, and returns what stores and announces it. `before`: the goal that
   * clients have seen; if they see no other now, it is not announced. `warning`: for clients.
   */
  step(
    before: ThreadGoal | null,
    {
      goal,
      turnId,
      warning = null,
    }: { goal: GoalRecord | null; turnId: string | null; warning?: string | null },
  ): StepAddition {
    if (!this.isAvailable || goal === null || goal === this.record) return {};
    this.#thread.state.keep({ goal });
    const { id: threadId } = this.#thread;
    const shown =
      JSON.stringify(this.shown) === JSON.stringify(before) ? [] : [this.announcement(turnId)];
    const warnings: Announcement[] =
      warning === null ? [] : [{ method: 'warning', params: { threadId, message: warning } }];
    return { patch: { goal }, announce: [...shown, ...warnings] };
  }
}
