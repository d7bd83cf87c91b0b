import type { Database, Statement } from 'better-sqlite3';
import { AGENTS_READ_MAX, type AgentRecord } from '../../thread-store.ts';
import type { ThreadOrigin } from './thread-origin.ts';

/** The ids of all threads below one. `UNION` ends with a damaged file in which the threads form a ring. */
export const IDS_BELOW =
  'WITH RECURSIVE below (id) AS (SELECT id FROM thread WHERE parent_id = @ancestorId UNION SELECT thread.id FROM thread JOIN below ON parent_id = below.id) SELECT id FROM below';

interface AgentRow {
  id: string;
  created_at: number;
  archived_at: number | null;
  listed: number;
  origin: string;
  token_usage: string;
  agent_closed_at: number | null;
}

/** The threads of one database that agents have started. Only the columns that are asked of agents are read: this is read often. */
export class AgentRows {
  readonly #below: Statement<{ ancestorId: string; limit: number }, AgentRow>;
  readonly #decode: (text: string) => unknown;

  /** `decode` reads a column that is stored as JSON. */
  constructor(db: Database, decode: (text: string) => unknown) {
    this.#below = db.prepare(
      `SELECT id, created_at, archived_at, listed, origin, token_usage, agent_closed_at FROM thread
       WHERE id IN (${IDS_BELOW}) ORDER BY created_at, id LIMIT @limit`,
    );
    this.#decode = decode;
  }

  /** The threads below this one, at any depth, oldest first. At most AGENTS_READ_MAX. */
  below(threadId: string): AgentRecord[] {
    return this.#below.all({ ancestorId: threadId, limit: AGENTS_READ_MAX }).map((row) => {
      const { sessionId, source, spawnTurnId = null } = this.#decode(row.origin) as ThreadOrigin;
      return {
        id: row.id,
        sessionId,
        source,
        spawnTurnId,
        createdAtMs: row.created_at,
        archivedAtMs: row.archived_at,
        listed: row.listed === 1,
        tokenUsage: this.#decode(row.token_usage) as AgentRecord['tokenUsage'],
        agentClosedAtMs: row.agent_closed_at,
      };
    });
  }
}
