import type { Audience, ClientChannel } from '../agent/client-channel.ts';
import { isObject } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import type { Answer } from '../protocol/answer.ts';
import type { ServerNotifications } from '../protocol/generated/types.ts';
import { answerProblem } from '../protocol/params-problem.ts';
import type { ClientResponse } from '../transport/json-reader.ts';
import type { Connection } from './connection.ts';

interface PendingRequest {
  audience: Audience;
  method: string;
  line: string;
  /** The connections that were asked and have not answered. */
  asked: Set<Connection>;
  /** The connections that answered with an error, and its message. */
  refused: Map<Connection, string>;
  /** The connections whose answers are being checked, one after another. */
  answered: Set<Connection>;
  checked: Promise<void>;
  settle: (answer: Answer<unknown>) => void;
}

/**
 * The first id of a server whose clients stay when it is started again. A dialog that one of them
 * has left open must not answer another question: no earlier server has used the ids from here,
 * unless it asked more than a thousand questions a second or began over three weeks ago. All ids
 * fit into 32 bits.
 */
export function firstRequestId(nowMs: number): number {
  return (Math.floor(nowMs / 1000) % SECONDS_MAX) * IDS_A_SECOND;
}

const IDS_A_SECOND = 1024;
const SECONDS_MAX = 2 ** 31 / IDS_A_SECOND;

export interface AskedConnections {
  /** The id of the first request. */
  firstId: number;
  log: Log;
  /** The connections that a request of an audience is put to, as they are now. */
  connections(audience: Audience): Iterable<Connection>;
  /** Whether a thread is the shown one, or an agent below it. */
  isAbout(threadId: string, shownId: string): boolean;
  /** Sends a notification to connections. */
  tell<Method extends keyof ServerNotifications>(
    connections: Iterable<Connection>,
    method: Method,
    params: ServerNotifications[Method],
  ): void;
  /** Whether a client provides the tools of a thread, or may be back soon. */
  isProvided(threadId: string): boolean;
  /** Whether a client is left that can still send something. */
  canAnyoneAnswer(): boolean;
}

/** The answer to a request that no client is left to answer. */
const NOBODY_LEFT: Answer<never> = { type: 'clientGone' };

/**
 * The requests that wait for an answer of a client. Their ids are unique in the whole server, not
 * per connection: so a request can be shown to several connections, shown again to one that comes
 * later, and answered once.
 */
export class PendingRequests {
  readonly #deps: AskedConnections;
  readonly #pending = new Map<number, PendingRequest>();
  #nextId: number;
  #drains = false;

  constructor(deps: AskedConnections) {
    this.#deps = deps;
    this.#nextId = deps.firstId;
  }

  get count(): number {
    return this.#pending.size;
  }

  ask: ClientChannel['ask'] = (audience, { method, params }, signal) => {
    if (signal.aborted) return Promise.resolve({ type: 'aborted' });
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const onAbort = () => settle({ type: 'aborted' });
      const settle = (answer: Answer<never>) => {
        if (!this.#pending.delete(id)) return;
        signal.removeEventListener('abort', onAbort);
        if (typeof audience === 'object' && 'threadId' in audience)
          this.#deps.tell(this.#shown(pending), 'serverRequest/resolved', {
            threadId: audience.threadId,
            requestId: id,
          });
        resolve(answer);
      };
      const line = JSON.stringify({ id, method, params });
      const pending: PendingRequest = {
        audience,
        method,
        line,
        asked: new Set(),
        refused: new Map(),
        answered: new Set(),
        checked: Promise.resolve(),
        settle: settle as PendingRequest['settle'],
      };
      this.#pending.set(id, pending);
      signal.addEventListener('abort', onAbort);
      for (const connection of this.#deps.connections(audience)) show(pending, connection);
      if ((this.#drains && !this.#deps.canAnyoneAnswer()) || this.#isUnprovided(audience))
        settle(NOBODY_LEFT);
    });
  };

  /**
   * The thread that an open request is about; null if there is no such request, or it is about no
   * thread.
   */
  threadOf(id: unknown): string | null {
    const audience = typeof id === 'number' ? this.#pending.get(id)?.audience : undefined;
    return typeof audience === 'object' && 'threadId' in audience ? audience.threadId : null;
  }

  /**
   * Shows a connection the requests of a thread that were sent before it came, under the same ids.
   */
  replay(threadId: string, connection: Connection): void {
    for (const pending of this.#pending.values()) {
      const { audience } = pending;
      if (
        typeof audience !== 'object' ||
        !('threadId' in audience) ||
        !this.#deps.isAbout(audience.threadId, threadId)
      )
        continue;
      if (isToolCall(audience) && this.#isWithAnother(pending, connection)) continue;
      if ([...this.#deps.connections(audience)].includes(connection)) show(pending, connection);
    }
  }

  /**
   * Takes a client's answer. The first result counts. An error, or a result that does not fit its
   * schema, settles the request only if no other client can still answer. So an observer that
   * cannot handle approvals does not decline for a person. Ignores late answers, second answers,
   * and answers of connections that were not asked.
   */
  async answer(response: ClientResponse, connection: Connection): Promise<void> {
    const pending = typeof response.id === 'number' ? this.#pending.get(response.id) : undefined;
    if (pending?.asked.delete(connection) !== true) return;
    pending.answered.add(connection);
    pending.checked = pending.checked.then(() => this.#check(pending, response, connection));
    await pending.checked;
  }

  async #check(
    pending: PendingRequest,
    response: ClientResponse,
    connection: Connection,
  ): Promise<void> {
    const { method, settle } = pending;
    if (response.error !== undefined) {
      this.#refuse(
        pending,
        connection,
        isObject(response.error) ? String(response.error.message) : 'refused',
      );
      return;
    }
    const problem = await answerProblem(method, response.result);
    if (problem === null) {
      settle({ type: 'result', result: response.result });
      return;
    }
    this.#deps.log.warn(
      { method, problem },
      "a client's answer is malformed and counts as a refusal",
    );
    this.#refuse(pending, connection, `the answer is malformed: ${problem}`);
  }

  /**
   * From now on, as soon as no client can send anything any more, all open requests and all later
   * ones are answered `clientGone`.
   */
  drain(): void {
    this.#drains = true;
    this.settleRefused();
    if (this.#deps.canAnyoneAnswer()) return;
    for (const { answered, settle } of [...this.#pending.values()])
      if (answered.size === 0) settle(NOBODY_LEFT);
  }

  /**
   * Forgets a connection that is gone. If no connection is left that was asked, the request waits
   * for a client that resumes the thread.
   */
  forget(connection: Connection): void {
    for (const { asked, refused } of this.#pending.values()) {
      asked.delete(connection);
      refused.delete(connection);
    }
    if (this.#drains) this.drain();
    else this.settleRefused();
  }

  /** Settles the calls of a thread's tools that no client is left to run. */
  settleUnprovided(threadId: string): void {
    for (const { audience, settle } of [...this.#pending.values()])
      if (isToolCall(audience) && audience.threadId === threadId && this.#isUnprovided(audience))
        settle(NOBODY_LEFT);
  }

  #isUnprovided(audience: Audience): boolean {
    return isToolCall(audience) && !this.#deps.isProvided(audience.threadId);
  }

  /**
   * Settles refused requests that no other client can answer now, and gives calls of tools whose
   * client has left to the one that runs them now. Must be called when the followers of a thread
   * change.
   */
  settleRefused(): void {
    for (const pending of [...this.#pending.values()]) {
      this.#settleIfRefused(pending);
      const { audience, refused } = pending;
      if (!isToolCall(audience) || refused.size > 0) continue;
      for (const connection of this.#deps.connections(audience))
        if (!pending.asked.has(connection) && !this.#isWithAnother(pending, connection))
          show(pending, connection);
    }
  }

  #refuse(pending: PendingRequest, connection: Connection, message: string): void {
    pending.answered.delete(connection);
    pending.refused.set(connection, message);
    this.#settleIfRefused(pending);
  }

  /**
   * Settles a request with the last refusal, unless a connection that was asked can still answer
   * it.
   */
  #settleIfRefused(pending: PendingRequest): void {
    const message = [...pending.refused.values()].at(-1);
    if (message === undefined || pending.answered.size > 0 || this.#answering(pending).length > 0)
      return;
    pending.settle({ type: 'error', message });
  }

  /** Whether a client already runs a tool: two that do it would do it twice. */
  #isWithAnother(pending: PendingRequest, than: Connection): boolean {
    return (
      pending.answered.size > 0 ||
      this.#answering(pending).some((connection) => connection !== than)
    );
  }

  /**
   * The connections that were asked and can still answer: one that runs a tool can, even if another
   * one has its place now.
   */
  #answering(pending: PendingRequest): Connection[] {
    return this.#shown(pending).filter(
      (connection) => pending.asked.has(connection) && connection.input !== 'ended',
    );
  }

  /**
   * The connections of the audience, of a call of a tool those that have ever been asked to run it.
   */
  #shown({ audience, asked, answered, refused }: PendingRequest): Connection[] {
    if (!isToolCall(audience)) return [...this.#deps.connections(audience)];
    const followers = [...this.#deps.connections({ threadId: audience.threadId })];
    return followers.filter(
      (connection) => asked.has(connection) || answered.has(connection) || refused.has(connection),
    );
  }
}

/** Whether a request goes only to the client that runs the tools of a thread. */
function isToolCall(audience: Audience): audience is Extract<Audience, { threadId: string }> {
  return typeof audience === 'object' && 'threadId' in audience && audience.only !== undefined;
}

function show({ asked, refused, line }: PendingRequest, connection: Connection): void {
  refused.delete(connection);
  asked.add(connection);
  connection.send(line);
}
