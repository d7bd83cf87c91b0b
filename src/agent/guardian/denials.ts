import { KeyedQueue } from '../../base/keyed-queue.ts';
import type { Judged } from './judged.ts';

/** How many denials in a row interrupt a turn. */
const IN_A_ROW_MAX = 3;
/** How many denials stop a turn, and how many a session, over all agents. */
const TURN_MAX = 10;
const SESSION_MAX = 30;
/** How many turns of a session, and how many sessions, are remembered. */
const TURNS_KEPT_MAX = 100;
const SESSIONS_KEPT_MAX = 10_000;

/** The limit of denials that was reached. */
export type DenialLimit = `${number} actions in ${'a row' | 'this turn' | 'this session'}`;

/**
 * Where an action is reviewed. A turn has the same root turn as the turn that started its agent.
 */
export interface DenialPlace {
  sessionId: string;
  rootTurnId: string;
}

interface Session {
  count: number;
  turns: Map<string, Turn>;
}

interface Turn {
  count: number;
  /** By the hashes of the actions. */
  denied: Map<string, Judged>;
}

/**
 * The denials of all guardians, counted for each tree of agents as one, as long as the server runs.
 */
export class Denials {
  readonly #sessions = new Map<string, Session>();
  /** Reviews of the same action in the same turn. */
  readonly #reviews = new KeyedQueue();

  /**
   * Returns the denial of this action in this turn, or lets it be reviewed if there is none. Equal
   * actions are reviewed one after another, so that each knows the denial of those before it. A
   * review that failed denies only its own action.
   */
  reviewed(place: DenialPlace, hash: string, review: () => Promise<Judged>): Promise<Judged> {
    return this.#reviews.run(
      JSON.stringify([place.sessionId, place.rootTurnId, hash]),
      async () => {
        const earlier = this.#turn(place).denied.get(hash);
        if (earlier !== undefined)
          return {
            ...earlier,
            rationale: `It was denied before in this turn. ${earlier.rationale ?? ''}`.trim(),
          };
        const judged = await review();
        if (judged.status === 'denied' && !judged.hasFailed)
          this.#turn(place).denied.set(hash, judged);
        return judged;
      },
    );
  }

  /** Counts a denial. Returns the limit that the turn or the session has reached; null: none. */
  count(place: DenialPlace): DenialLimit | null {
    const session = this.#session(place.sessionId);
    const turn = this.#turn(place);
    session.count++;
    turn.count++;
    if (session.count >= SESSION_MAX) return `${session.count} actions in this session`;
    return turn.count >= TURN_MAX ? `${turn.count} actions in this turn` : null;
  }

  #turn({ sessionId, rootTurnId }: DenialPlace): Turn {
    return kept(this.#session(sessionId).turns, rootTurnId, {
      max: TURNS_KEPT_MAX,
      make: () => ({ count: 0, denied: new Map() }),
    });
  }

  #session(sessionId: string): Session {
    return kept(this.#sessions, sessionId, {
      max: SESSIONS_KEPT_MAX,
      make: () => ({ count: 0, turns: new Map() }),
    });
  }
}

/** The denials in a row of one guardian. */
export class DenialsInARow {
  #count = 0;

  /** An action was approved, or a turn begins. */
  end(): void {
    this.#count = 0;
  }

  /** Counts a denial. Returns the limit if it is reached now; null: it is not. */
  count(): DenialLimit | null {
    this.#count++;
    return this.#count === IN_A_ROW_MAX ? `${IN_A_ROW_MAX} actions in a row` : null;
  }
}

/**
 * The value of a key, which is made if it is not there. Those that were not used for the longest
 * time are forgotten.
 */
function kept<T>(
  values: Map<string, T>,
  key: string,
  { max, make }: { max: number; make: () => T },
): T {
  const value = values.get(key) ?? make();
  values.delete(key);
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > max && oldest !== undefined) values.delete(oldest);
  return value;
}
