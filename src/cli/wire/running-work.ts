import { isObject } from '../../base/json-value.ts';
import type { WireMessage } from '../../client/client-options.ts';
import { TURN_COMPLETED } from './parse-line.ts';

interface WorkKind {
  /** The notification that ends the work. */
  ends: string;
  /**
   * The field that names the work in the notification, and in the params or the result of the
   * request. Null: there is one such work at a time.
   */
  field: string | null;
  in: 'params' | 'result';
}

/** The requests that are answered when something has begun, besides those that begin a turn. */
const STARTERS: Readonly<Record<string, WorkKind>> = {
  'account/login/start': { ends: 'account/login/completed', field: null, in: 'params' },
  'externalAgentConfig/import': {
    ends: 'externalAgentConfig/import/completed',
    field: 'importId',
    in: 'result',
  },
  'fuzzyFileSearch/sessionUpdate': {
    ends: 'fuzzyFileSearch/sessionCompleted',
    field: 'sessionId',
    in: 'params',
  },
  'mcpServer/oauth/login': {
    ends: 'mcpServer/oauthLogin/completed',
    field: 'loginId',
    in: 'result',
  },
  'process/spawn': { ends: 'process/exited', field: 'processHandle', in: 'params' },
};

const KINDS = Object.values(STARTERS);

/** The requests that end work without its notification. */
const ENDERS: Readonly<Record<string, WorkKind>> = {
  'fuzzyFileSearch/sessionStop': {
    ends: 'fuzzyFileSearch/sessionCompleted',
    field: 'sessionId',
    in: 'params',
  },
};

/** The requests whose response does not name the turn that they begin. */
const COMPACT = 'thread/compact/start';
const SHELL = 'thread/shellCommand';

type Message = WireMessage['message'];

/**
 * What the requests of a session have started and what has not ended: turns, processes, searches,
 * imports and logins.
 */
export class RunningWork {
  /** Whether a turn of this session has failed, or a login. */
  hasFailed = false;
  /** The requests without a response, by their ids. */
  readonly #asked = new Map<unknown, { method: string; params: Record<string, unknown> }>();
  /** The threads of the turns that run, by turn. */
  readonly #turns = new Map<string, string>();
  /** The turns that requests of this session have begun. */
  readonly #own = new Set<string>();
  /** How many turns of a thread are still to begin. */
  readonly #awaited = new Map<string, number>();
  readonly #others = new Set<string>();

  /** Whether nothing runs and no turn is to begin. */
  get isOver(): boolean {
    return this.#turns.size + this.#awaited.size + this.#others.size === 0;
  }

  /** The turns that run, with their threads. */
  get turns(): [turnId: string, threadId: string][] {
    return [...this.#turns];
  }

  /** Whether this notification ends work. */
  static isEnd(method: string): boolean {
    return method === TURN_COMPLETED || KINDS.some(({ ends }) => ends === method);
  }

  /** Takes a request of the client. */
  sent({ id, method, params }: Message): void {
    if (typeof method === 'string')
      this.#asked.set(id, { method, params: isObject(params) ? params : {} });
  }

  /** Takes the response to a request. */
  answered({ id, result }: Message): void {
    const { method, params } = this.#asked.get(id) ?? { method: '', params: {} };
    this.#asked.delete(id);
    if (!isObject(result)) return;
    const threadId = typeof params.threadId === 'string' ? params.threadId : '';
    const turn = isObject(result.turn) ? result.turn : {};
    if (typeof turn.id === 'string' && turn.status === 'inProgress') {
      this.#own.add(turn.id);
      this.#turns.set(turn.id, threadId);
    }
    this.#await(method, threadId);
    const parts = { params, result };
    const [started, ended] = [STARTERS, ENDERS].map((kinds) =>
      Object.hasOwn(kinds, method) ? kinds[method] : undefined,
    );
    if (started !== undefined) this.#others.add(keyOf(started, parts[started.in]));
    if (ended !== undefined) this.#others.delete(keyOf(ended, parts[ended.in]));
  }

  /** Takes note of a turn that is to begin. */
  #await(method: string, threadId: string): void {
    const isRunning = [...this.#turns.values()].includes(threadId);
    const awaited = this.#awaited.get(threadId) ?? 0;
    // A running turn takes the command. While a turn is to begin or runs, all requests to compact
    // make one further turn.
    if (method === SHELL && !isRunning) this.#awaited.set(threadId, Math.max(awaited, 1));
    if (method === COMPACT) this.#awaited.set(threadId, Math.min(awaited + 1, isRunning ? 1 : 2));
  }

  /** Takes a notification of the server. */
  notified(method: string, params: Record<string, unknown>): void {
    const { threadId, turn } = params;
    if (typeof threadId === 'string' && isObject(turn) && typeof turn.id === 'string') {
      if (method === 'turn/started') this.#began(threadId, turn.id);
      if (method === TURN_COMPLETED) this.#ended(turn.id, turn.status);
    }
    // A warning also says that a turn could not begin. While one runs, it can be about that one.
    const isIdle = ![...this.#turns.values()].includes(String(threadId));
    if ((method === 'warning' && isIdle) || method === 'thread/closed')
      this.#awaited.delete(String(threadId));
    if (method === 'thread/closed') this.#closed(threadId);
    const kind = KINDS.find(({ ends }) => ends === method);
    if (kind !== undefined && this.#others.delete(keyOf(kind, params)) && params.success === false)
      this.hasFailed = true;
  }

  #closed(threadId: unknown): void {
    for (const [id, thread] of this.#turns) if (thread === threadId) this.#turns.delete(id);
  }

  #ended(turnId: string, status: unknown): void {
    this.#turns.delete(turnId);
    if (status === 'failed' && this.#own.has(turnId)) this.hasFailed = true;
  }

  #began(threadId: string, turnId: string): void {
    this.#turns.set(turnId, threadId);
    const awaited = this.#awaited.get(threadId);
    if (awaited === undefined) return;
    this.#own.add(turnId);
    if (awaited > 1) this.#awaited.set(threadId, awaited - 1);
    else this.#awaited.delete(threadId);
  }
}

function keyOf({ ends, field }: WorkKind, fields: Record<string, unknown>): string {
  return JSON.stringify([ends, field === null ? null : (fields[field] ?? null)]);
}
