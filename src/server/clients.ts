import type { Audience, Publisher } from '../agent/publisher.ts';
import { isObject } from '../base/json.ts';
import type { Answer } from '../protocol/answer.ts';
import type { ClientResponse } from '../transport/json-reader.ts';
import type { Connection } from './connection.ts';

interface PendingAsk {
  threadId: string | null;
  line: string;
  settle: (answer: Answer<unknown>) => void;
}

/**
 * All connections, what each follows, and what was asked of them. Requests to clients are numbered for the whole server,
 * not per connection: so one can be shown to several, shown again to a connection that comes later, and answered once.
 */
export class Clients implements Publisher {
  readonly #connections = new Map<number, Connection>();
  readonly #followers = new Map<string, Set<Connection>>();
  readonly #asked = new Map<number, PendingAsk>();
  #nextAsk = 0;

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** How many requests to clients wait for an answer. */
  get askedCount(): number {
    return this.#asked.size;
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
    for (const ask of this.#asked.values()) if (ask.threadId === threadId) connection?.send(ask.line);
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
    const threadId = typeof audience === 'object' && 'threadId' in audience ? audience.threadId : null;
    const line = JSON.stringify({ id, method, params });
    return new Promise((resolve) => {
      const onAbort = () => settle({ type: 'aborted' });
      const settle = (answer: Answer<never>) => {
        if (!this.#asked.delete(id)) return;
        signal.removeEventListener('abort', onAbort);
        if (threadId !== null) this.publish(audience, 'serverRequest/resolved', { threadId, requestId: id });
        resolve(answer);
      };
      this.#asked.set(id, { threadId, line, settle: settle as PendingAsk['settle'] });
      signal.addEventListener('abort', onAbort);
      for (const connection of this.#audience(audience)) connection.send(line);
    });
  };

  /** Takes a client's answer. One that comes late, twice or to nothing is ignored. */
  answer(response: ClientResponse): void {
    const pending = typeof response.id === 'number' ? this.#asked.get(response.id) : undefined;
    if (pending === undefined) return;
    if (response.error === undefined) pending.settle({ type: 'result', result: response.result });
    else pending.settle({ type: 'error', message: isObject(response.error) ? String(response.error.message) : 'refused' });
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
