import type { Database, Statement } from 'better-sqlite3';
import type { TokenUsageBreakdown } from '../../../protocol/generated/types.ts';
import type { AgentPage } from '../../agents-below.ts';
import type { AgentRecord } from '../../thread-record.ts';
import type { StoredThreadOrigin } from './stored-thread-origin.ts';

/**
 * The ids of all threads below one. `UNION` ends with a damaged file in which the threads form a
 * ring.
 */
export const IDS_BELOW =
  'WITH RECURSIVE below (id) AS (SELECT id FROM thread WHERE parent_id = @ancestorId UNION SELECT thread.id FROM thread JOIN below ON parent_id = below.id) SELECT id FROM below';

/** How much one read of agents does, so that it takes a few milliseconds. */
const AGENTS_MAX = 400;
const PARENTS_MAX = 1_000;

// The expressions of the index `thread_agent`: written otherwise, they would be computed from the
// rows.
const SPAWN_TURN = "(CASE WHEN json_valid(origin) THEN origin ->> '$.spawnTurnId' END)";
const TOKENS = [
  'totalTokens',
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteInputTokens',
  'outputTokens',
  'reasoningOutputTokens',
] as const;
const SUMS = TOKENS.map(
  (name) =>
    `sum((CASE WHEN json_valid(token_usage) THEN token_usage ->> '$.usage.total.${name}' END)) AS ${name}`,
);

/** A thread, and those below it that have started agents themselves. */
const PARENTS = `WITH RECURSIVE parent (id) AS (
  SELECT @ancestorId
  UNION
  SELECT thread.id FROM parent JOIN thread ON parent_id = parent.id
    WHERE EXISTS (SELECT 1 FROM thread AS child WHERE child.parent_id = thread.id)
)`;

interface AgentRow {
  id: string;
  created_at: number;
  archived_at: number | null;
  listed: number;
  origin: string;
  agent_closed_at: number | null;
}

/** The threads of one database that agents have started. */
export class AgentRows {
  readonly #ofParent: Statement<[string, string, number], AgentRow>;
  readonly #sum: Statement<
    { ancestorId: string; except: string },
    { [Name in keyof TokenUsageBreakdown]: number | null }
  >;
  readonly #ids: Statement<{ ancestorId: string }, string>;
  readonly #unlisted: Statement<[string], string>;
  readonly #spawnTurns: Statement<[string], string>;
  readonly #ofTurn: Statement<[string, string], string>;
  readonly #decode: (text: string) => unknown;

  /** `decode` reads a column that is stored as JSON. */
  constructor(db: Database, decode: (text: string) => unknown) {
    this.#ofParent = db.prepare(
      `SELECT id, created_at, archived_at, listed, origin, agent_closed_at FROM thread
       WHERE parent_id = ? AND id > ? ORDER BY id LIMIT ?`,
    );
    this.#sum = db.prepare(
      `${PARENTS} SELECT ${SUMS.join(', ')} FROM parent CROSS JOIN thread ON parent_id = parent.id
         WHERE thread.id NOT IN (SELECT value FROM json_each(@except))`,
    );
    this.#ids = db
      .prepare<{ ancestorId: string }, string>(
        `${PARENTS} SELECT thread.id FROM parent CROSS JOIN thread ON parent_id = parent.id`,
      )
      .pluck();
    this.#unlisted = db
      .prepare<[string], string>('SELECT id FROM thread WHERE parent_id = ? AND listed = 0')
      .pluck();
    this.#spawnTurns = db
      .prepare<[string], string>(
        `SELECT DISTINCT ${SPAWN_TURN} FROM thread WHERE parent_id = ? AND agent_closed_at IS NULL AND ${SPAWN_TURN} IS NOT NULL`,
      )
      .pluck();
    this.#ofTurn = db
      .prepare<[string, string], string>(
        `SELECT id FROM thread WHERE parent_id = ? AND agent_closed_at IS NULL AND archived_at IS NULL AND ${SPAWN_TURN} = ?`,
      )
      .pluck();
    this.#decode = decode;
  }

  /** A part of the agents that these threads have started, by parent and id. */
  page(parentIds: readonly string[], afterId: string): AgentPage {
    const agents: AgentRecord[] = [];
    let after = afterId;
    for (const [index, parentId] of parentIds.entries()) {
      if (agents.length === AGENTS_MAX || index === PARENTS_MAX)
        return { agents, parentIds: parentIds.slice(index), afterId: after };
      const asked = AGENTS_MAX - agents.length;
      const rows = this.#ofParent.all(parentId, after, asked);
      agents.push(...rows.map((row) => this.#agent(row)));
      after = rows.length === asked ? (rows.at(-1)?.id ?? '') : '';
      if (after !== '') return { agents, parentIds: parentIds.slice(index), afterId: after };
    }
    return { agents, parentIds: [], afterId: '' };
  }

  /** The ids of all threads below this one. */
  idsBelow(threadId: string): string[] {
    return this.#ids.all({ ancestorId: threadId });
  }

  /** The tokens of all threads below this one, except those; null if they have used none. */
  tokensBelow(threadId: string, exceptIds: readonly string[]): TokenUsageBreakdown | null {
    const sums = this.#sum.get({ ancestorId: threadId, except: JSON.stringify(exceptIds) });
    if (sums === undefined || sums.totalTokens === null) return null;
    return Object.fromEntries(
      TOKENS.map((name) => [name, sums[name] ?? 0]),
    ) as unknown as TokenUsageBreakdown;
  }

  /** The ids of the agents of a thread that have had no turn. */
  unlisted(threadId: string): string[] {
    return this.#unlisted.all(threadId);
  }

  /** The ids of the open agents of a thread that it has started in turns that it no longer has. */
  orphans(threadId: string, hasTurn: (turnId: string) => boolean): string[] {
    const gone = this.#spawnTurns.all(threadId).filter((turnId) => !hasTurn(turnId));
    return gone.flatMap((turnId) => this.#ofTurn.all(threadId, turnId));
  }

  #agent(row: AgentRow): AgentRecord {
    const {
      sessionId,
      source,
      spawnTurnId = null,
    } = this.#decode(row.origin) as StoredThreadOrigin;
    return {
      id: row.id,
      sessionId,
      source,
      spawnTurnId,
      createdAtMs: row.created_at,
      archivedAtMs: row.archived_at,
      listed: row.listed === 1,
      agentClosedAtMs: row.agent_closed_at,
    };
  }
}
