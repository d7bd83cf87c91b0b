import type { Audience, Publisher } from '../agent/publisher.ts';
import { isObject } from '../base/json-value.ts';
import type { Log } from '../base/log.ts';
import type { Answer } from '../protocol/answer.ts';
import { answerProblem } from '../protocol/params-problem.ts';
import type { ClientResponse } from '../transport/json-reader.ts';
import type { Connection } from './connection.ts';

interface PendingAsk {
  audience: Audience;
  method: string;
  line: string;
  /** The numbers of the connections that were asked: nobody else can answer. */
  shownTo: Set<number>;
  /** Its answer is being looked at: no other one counts. */
  isAnswered: boolean;
  settle: (answer: Answer<unknown>) => void;
}

/** What an answer comes to that nobody can give any more. */
const NOBODY_LEFT: Answer<never> = { type: 'error', message: 'nobody is left who could answer' };

/**
 * All connections, what each follows, and what was asked of them. Requests to clients are numbered for the whole server,
 * not per connection: so one can be shown to several, shown again to a connection that comes later, and answered once.
 */
export class Clients implements Publisher {
  readonly #connections = new Map<number, Connection>();
  readonly #followers = new Map<string, Set<Connection>>();
  readonly #asked = new Map<number, PendingAsk>();
  readonly #log: Log;
  #nextAsk = 0;
  #drains = false;

  constructor(log: Log) {
    this.#log = log;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** How many requests to clients wait for an answer. */
  get askedCount(): number {
    return this.#asked.size;
  }

  has(connectionId: number): boolean {
    return this.#connections.has(connectionId);
  }

  add(connection: Connection): void {
    this.#connections.set(connection.id, connection);
  }

  /** Forgets a connection that is gone; gives the threads that nobody follows any more. */
  remove(connection: Connection): string[] {
    this.#connections.delete(connection.id);
    const abandoned = [];
    for (const [threadId, followers] of this.#followers) {
      if (followers.delete(connection) && followers.size === 0) abandoned.push(threadId);
    }
    for (const threadId of abandoned) this.#followers.delete(threadId);
    if (this.#drains) this.drain();
    return abandoned;
  }

  /** Lets a connection follow a thread. */
  subscribe(threadId: string, connectionId: number): void {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) return;
    const followers = this.#followers.get(threadId);
    if (followers === undefined) this.#followers.set(threadId, new Set([connection]));
    else followers.add(connection);
  }

  /** Shows a connection what was asked in a thread before it came, under the same ids. */
  replay(threadId: string, connectionId: number): void {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) return;
    for (const ask of this.#asked.values()) {
      if (typeof ask.audience === 'object' && 'threadId' in ask.audience && ask.audience.threadId === threadId) show(ask, connection);
    }
  }

  /** False when the connection did not follow the thread. */
  unsubscribe(threadId: string, connectionId: number): boolean {
    const connection = this.#connections.get(connectionId);
    const followers = this.#followers.get(threadId);
    if (connection === undefined || followers === undefined || !followers.delete(connection)) return false;
    if (followers.size === 0) this.#followers.delete(threadId);
    return true;
  }

  unsubscribeAll(threadId: string): void {
    this.#followers.delete(threadId);
  }

  isFollowed(threadId: string): boolean {
    return this.#followers.has(threadId);
  }

  /** Whether one of the connections that follow the thread can still say something. */
  isAttended(threadId: string): boolean {
    return [...(this.#followers.get(threadId) ?? [])].some((connection) => !connection.inputEnded);
  }

  publish: Publisher['publish'] = (audience, method, params) => {
    let line: string | null = null;
    for (const connection of this.#audience(audience)) {
      if (!connection.hears(method)) continue;
      line ??= JSON.stringify({ method, params });
      connection.send(line);
    }
  };

  ask: Publisher['ask'] = (audience, { method, params }, signal) => {
    if (signal.aborted) return Promise.resolve({ type: 'aborted' });
    const id = this.#nextAsk++;
    return new Promise((resolve) => {
      const onAbort = () => settle({ type: 'aborted' });
      const settle = (answer: Answer<never>) => {
        if (!this.#asked.delete(id)) return;
        signal.removeEventListener('abort', onAbort);
        if (typeof audience === 'object' && 'threadId' in audience)
          this.publish(audience, 'serverRequest/resolved', { threadId: audience.threadId, requestId: id });
        resolve(answer);
      };
      const line = JSON.stringify({ id, method, params });
      const pending: PendingAsk = {
        audience,
        method,
        line,
        shownTo: new Set(),
        isAnswered: false,
        settle: settle as PendingAsk['settle'],
      };
      this.#asked.set(id, pending);
      signal.addEventListener('abort', onAbort);
      for (const connection of this.#audience(audience)) show(pending, connection);
      if (this.#drains && !this.#canAnyoneAnswer()) settle(NOBODY_LEFT);
    });
  };

  /**
   * Takes a client's answer. The first counts; one that comes late or twice, or from a connection that was not asked, is
   * ignored. One that is not what the request wants is logged, and counts as an error.
   */
  async answer(response: ClientResponse, connectionId: number): Promise<void> {
    const pending = typeof response.id === 'number' ? this.#asked.get(response.id) : undefined;
    if (pending === undefined || pending.isAnswered || !pending.shownTo.has(connectionId)) return;
    pending.isAnswered = true;
    const { method } = pending;
    if (response.error !== undefined) {
      pending.settle({ type: 'error', message: isObject(response.error) ? String(response.error.message) : 'refused' });
      return;
    }
    const problem = await answerProblem(method, response.result);
    if (problem === null) {
      pending.settle({ type: 'result', result: response.result });
      return;
    }
    this.#log.warn({ method, problem }, "a client's answer is malformed, and counts as a refusal");
    pending.settle({ type: 'error', message: `the answer is malformed: ${problem}` });
  }

  /**
   * From now on nobody is waited for who will not come: while every client has closed its side, what is asked counts as refused
   * at once, and what was asked before with it.
   */
  drain(): void {
    this.#drains = true;
    if (this.#canAnyoneAnswer()) return;
    for (const { isAnswered, settle } of [...this.#asked.values()]) if (!isAnswered) settle(NOBODY_LEFT);
  }

  #canAnyoneAnswer(): boolean {
    return [...this.#connections.values()].some((connection) => !connection.inputEnded);
  }

  drained(audience: Audience): Promise<void> | null {
    const waits = [];
    for (const connection of this.#audience(audience)) {
      const wait = connection.drained();
      if (wait !== null) waits.push(wait);
    }
    return waits.length === 0 ? null : Promise.all(waits).then(() => undefined);
  }

  /** Ends every connection, once it has been sent what it is owed. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }

  #audience(audience: Audience): Iterable<Connection> {
    if (audience === 'everyone') return this.#connections.values();
    if ('threadId' in audience) return this.#followers.get(audience.threadId) ?? [];
    const connection = this.#connections.get(audience.connection);
    return connection === undefined ? [] : [connection];
  }
}

function show(ask: PendingAsk, connection: Connection): void {
  ask.shownTo.add(connection.id);
  connection.send(ask.line);
}
