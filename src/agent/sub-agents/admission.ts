import { spawnSource } from '../../store/spawn-source.ts';
import type { AgentRecord } from '../../store/thread-record.ts';
import { AGENTS_READ_MAX, type ThreadStore } from '../../store/thread-store.ts';
import { type AgentLimits, AgentRefused } from '../lineage/agent-tree.ts';
import { isOpen } from '../lineage/parent-of.ts';
import { pickNickname } from './pick-nickname.ts';
import { type Reservation, Reservations } from './reservations.ts';

interface AdmissionDeps {
  store: Pick<ThreadStore, 'listAgents'>;
  /** The ids of the agents of a session in which a turn runs. */
  running(sessionId: string): readonly string[];
}

/** Decides whether a session may have one more agent that runs, or that is open. */
export class Admission {
  readonly #deps: AdmissionDeps;
  readonly #reservations = new Reservations();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
  }

  /**
   * Reserves the place of an agent that is about to run, at once. Throws AgentRefused. Release it
   * once the agent runs, or cannot.
   */
  reserve(sessionId: string, agentId: string | null, { running: limit }: AgentLimits): Reservation {
    return this.#reservations.take(sessionId, agentId, {
      limit,
      running: this.#deps.running(sessionId),
    });
  }

  release(sessionId: string, place: Reservation): void {
    this.#reservations.release(sessionId, place);
  }

  /**
   * Checks that the session may have one more agent, and chooses its nickname. Rejects with
   * AgentRefused.
   */
  async admit(
    sessionId: string,
    { nicknames, limits }: { nicknames: readonly string[]; limits: AgentLimits },
    place: Reservation,
  ): Promise<string> {
    const all = await this.#deps.store.listAgents(sessionId);
    if (all.length >= AGENTS_READ_MAX)
      throw new AgentRefused(
        `The session has ${AGENTS_READ_MAX} agents, with those that are closed: the user can go on in a new thread.`,
      );
    // From here on at once, so that agents that are started side by side see each other.
    const taken = this.#checkOpen(sessionId, all.filter(isOpen), limits);
    place.nickname = pickNickname(nicknames, new Set(taken));
    return place.nickname;
  }

  /**
   * Opens an agent again, unless the session may not have one more open agent: then it rejects with
   * AgentRefused.
   */
  async readmit(
    { id, sessionId, source }: AgentRecord,
    limits: AgentLimits,
    open: () => Promise<void>,
  ): Promise<void> {
    const others = (await this.#deps.store.listAgents(sessionId)).filter(isOpen);
    this.#checkOpen(sessionId, others, limits);
    const place = this.#reservations.hold(sessionId, {
      agentId: id,
      nickname: spawnSource(source)?.agent_nickname ?? '',
    });
    try {
      await open();
    } finally {
      this.#reservations.release(sessionId, place);
    }
  }

  /**
   * Checks that the session may have one more open agent. Returns the nicknames of those that are
   * open or being opened.
   */
  #checkOpen(sessionId: string, open: readonly AgentRecord[], limits: AgentLimits): string[] {
    const known = new Set(open.map(({ id }) => id));
    // Those that were not open in the store when the others were read.
    const opening = this.#reservations
      .of(sessionId)
      .filter(({ agentId, nickname }) => nickname !== null && !known.has(agentId ?? ''));
    const nicknames = open.map(({ source }) => spawnSource(source)?.agent_nickname ?? null);
    const names = [...nicknames, ...opening.map(({ nickname }) => nickname)].filter(
      (name) => name !== null,
    );
    if (open.length + opening.length >= limits.open)
      throw new AgentRefused(
        `The limit of ${limits.open} open agents is reached. Close those that you no longer need with close_agent. The oldest are: ${open
          .slice(0, OLDEST_NAMED)
          .map(({ id }) => id)
          .join(', ')}.`,
      );
    return names;
  }
}

/** How many open agents the refusal of a further one names. */
const OLDEST_NAMED = 20;
