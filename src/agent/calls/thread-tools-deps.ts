import type { Announcement } from '../../protocol/announcement.ts';
import type { AgentDeps } from '../agent-deps.ts';
import type { GoalKeeper } from '../goal/goal-keeper.ts';
import type { Outbox } from '../outbox.ts';
import type { ThreadState } from '../thread-state.ts';

/** What a thread's tools reach of the thread. */
export interface ThreadToolsDeps {
  state: ThreadState;
  deps: AgentDeps;
  goal: GoalKeeper;
  outbox: Outbox;
  /** Tells the thread's clients at once. */
  announce: (announcement: Announcement) => void;
}
