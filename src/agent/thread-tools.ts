import { Grants } from '../policy/grants.ts';
import { goalTools } from '../tools/goal-tools.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';
import { updatePlan } from '../tools/update-plan.ts';
import type { ActiveTurn } from './active-turn.ts';
import { turnApprovals } from './approvals.ts';
import { turnItems } from './tool-items.ts';
import type { ToolSurroundings } from './tool-surroundings.ts';

/** What the model can call in a thread, and what of it outlives a turn. */
export class ThreadTools {
  readonly #surroundings: ToolSurroundings;
  readonly #grants = new Grants();

  constructor(surroundings: ToolSurroundings) {
    this.#surroundings = surroundings;
  }

  /** What the model can call now. */
  list(): Tool[] {
    const { goal } = this.#surroundings;
    return goal.available ? [updatePlan, ...goalTools(goal)] : [updatePlan];
  }

  /** What a tool is told for one call. */
  context(turn: ActiveTurn, callId: string): ToolContext {
    const { state, outbox } = this.#surroundings;
    return {
      threadId: state.id,
      turnId: turn.id,
      callId,
      get settings() {
        return turn.settings;
      },
      emit: (announcement) => outbox.commit({ announce: [announcement] }),
      items: turnItems(this.#surroundings, turn.id),
      approvals: turnApprovals(this.#surroundings, { turn, grants: this.#grants }),
    };
  }

  /** Takes back what was allowed for the turn that has ended. */
  turnEnded(): void {
    this.#grants.endTurn();
  }

  /** Ends what still runs. */
  async close(): Promise<void> {}
}
