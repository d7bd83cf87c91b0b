import type { Audience, ClientChannel } from '../agent/client-channel.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type {
  ServerDiagnosticsConnection,
  ServerNotifications,
} from '../protocol/generated/types.ts';
import type { ClientResponse } from '../transport/json-reader.ts';
import type { OutgoingMessage } from '../transport/outgoing-message.ts';
import type { Connection } from './connection.ts';
import { notificationMessage } from './notification-message.ts';
import { firstRequestId, PendingRequests } from './pending-requests.ts';
import { ToolProviders } from './tool-providers.ts';

/** A client's answer to a request of the server. */
export interface ClientAnswer {
  /** The thread that the request is about; null if it is about none, or is not open. */
  threadId: string | null;
  /** Resolves when the answer counts or is ignored. */
  take(): Promise<void>;
}

interface ClientsOptions {
  clock: Clock;
  log: Log;
  /**
   * Whether the server goes on without clients, which may connect again, also to a later server.
   * Default: no.
   */
  outlivesClients?: boolean | undefined;
}

/** All connections, the threads that each follows, and the requests that were sent to them. */
export class Clients implements ClientChannel {
  readonly #connections = new Map<number, Connection>();
  readonly #followers = new Map<string, Set<Connection>>();
  /** By the thread of a loaded agent: the threads above it, the nearest first. */
  readonly #above = new Map<string, readonly string[]>();
  readonly #pending: PendingRequests;
  readonly #providers: ToolProviders;
  /** By thread: the connection that has asked for the raw events. */
  readonly #rawListeners = new Map<string, number>();
  readonly #clock: Clock;
  readonly #outlivesClients: boolean;

  constructor({ clock, log, outlivesClients = false }: ClientsOptions) {
    this.#clock = clock;
    this.#outlivesClients = outlivesClients;
    this.#providers = new ToolProviders(clock, (threadId) =>
      this.#pending.settleUnprovided(threadId),
    );
    this.#pending = new PendingRequests({
      firstId: outlivesClients ? firstRequestId(clock.now()) : 0,
      log,
      connections: (audience) => this.#askable(audience),
      isAbout: (threadId, shown) => this.#lineage(threadId).includes(shown),
      tell: (connections, method, params) => this.#send(connections, method, params),
      isProvided: (threadId) => this.#providers.isExpected(threadId),
      canAnyoneAnswer: () => [...this.#connections.values()].some(({ input }) => input !== 'ended'),
    });
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** The number of requests to clients that wait for an answer. */
  get pendingCount(): number {
    return this.#pending.count;
  }

  /** The connections, for `server/diagnostics`. */
  views(): ServerDiagnosticsConnection[] {
    const followed = [...this.#followers.values()];
    return [...this.#connections.values()].map((connection) => ({
      ...connection.view,
      threadsFollowed: followed.filter((followers) => followers.has(connection)).length,
    }));
  }

  /** Ends a connection once its messages are written. Returns false if there is none. */
  end(connectionId: number): boolean {
    const connection = this.#connections.get(connectionId);
    void connection?.close();
    return connection !== undefined;
  }

  /** Whether a client has not closed its side, or the server goes on without. */
  get isReachable(): boolean {
    if (this.#outlivesClients) return true;
    return [...this.#connections.values()].some(({ input }) => input === 'open');
  }

  /** The ids of the connections. */
  ids(): Iterable<number> {
    return this.#connections.keys();
  }

  has(connectionId: number): boolean {
    return this.#connections.has(connectionId);
  }

  add(connection: Connection): void {
    this.#connections.set(connection.id, connection);
  }

  /** Forgets a connection that is gone. Returns the threads that no connection follows any more. */
  remove(connection: Connection): string[] {
    this.#connections.delete(connection.id);
    const abandoned = [];
    for (const [threadId, followers] of this.#followers) {
      if (!followers.delete(connection)) continue;
      this.#left(threadId, connection.id);
      if (followers.size === 0) abandoned.push(threadId);
    }
    for (const threadId of abandoned) this.#followers.delete(threadId);
    this.#pending.forget(connection);
    return abandoned;
  }

  /** Makes a connection a follower of a thread. */
  subscribe(threadId: string, connectionId: number): void {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) return;
    const followers = this.#followers.get(threadId) ?? new Set();
    this.#followers.set(threadId, followers.add(connection));
  }

  /**
   * From now on a follower of a thread runs the tools that clients provide for it, unless another
   * one does (`ToolProviders.offer`).
   */
  provideTools(threadId: string, connectionId: number, options: { isDeclarer: boolean }): void {
    this.#providers.offer(threadId, connectionId, options);
  }

  /** From now on a follower of a thread gets its raw events, too. */
  sendRawEvents(threadId: string, connectionId: number): void {
    this.#rawListeners.set(threadId, connectionId);
  }

  isHeard(audience: Audience): boolean {
    return [...this.#audience(audience)].length > 0;
  }

  /**
   * Shows a connection the open requests of a thread and of the agents below it that were sent
   * before it came, under the same ids.
   */
  replay(threadId: string, connectionId: number): void {
    const connection = this.#connections.get(connectionId);
    if (connection !== undefined) this.#pending.replay(threadId, connection);
  }

  /** Returns false if the connection did not follow the thread. */
  unsubscribe(threadId: string, connectionId: number): boolean {
    const connection = this.#connections.get(connectionId);
    const followers = this.#followers.get(threadId);
    if (connection === undefined || followers === undefined || !followers.delete(connection))
      return false;
    if (followers.size === 0) this.#followers.delete(threadId);
    this.#left(threadId, connectionId);
    this.#pending.settleRefused();
    return true;
  }

  /**
   * From now on, the questions of an agent's thread are also asked of the clients that follow a
   * thread above it.
   */
  adopt(threadId: string, above: readonly string[]): void {
    this.#above.set(threadId, above);
  }

  /** The thread of an agent is not loaded any more. */
  disown(threadId: string): void {
    this.#above.delete(threadId);
  }

  /** Makes the connections that follow one thread followers of another. */
  subscribeFollowers(threadId: string, { of }: { of: string }): void {
    for (const { id } of this.#followers.get(of) ?? []) this.subscribe(threadId, id);
  }

  unsubscribeAll(threadId: string): void {
    this.#providers.forget(threadId);
    this.#rawListeners.delete(threadId);
    this.#followers.delete(threadId);
  }

  isFollowed(threadId: string): boolean {
    return this.#followers.has(threadId);
  }

  /**
   * Whether a connection that follows the thread can still send something, or the server goes on
   * without.
   */
  isAttended(threadId: string): boolean {
    if (this.#outlivesClients) return true;
    return [...(this.#followers.get(threadId) ?? [])].some(({ input }) => input !== 'ended');
  }

  publish: ClientChannel['publish'] = (audience, method, params) =>
    this.#send(this.#audience(audience), method, params);

  #send<Method extends keyof ServerNotifications>(
    connections: Iterable<Connection>,
    method: Method,
    params: ServerNotifications[Method],
  ): void {
    let message: OutgoingMessage | null = null;
    const emittedAtMs = this.#clock.now();
    for (const connection of connections) {
      if (!connection.hears(method)) continue;
      message ??= notificationMessage(method, params, emittedAtMs);
      connection.send(message);
    }
  }

  ask: ClientChannel['ask'] = (audience, request, signal) =>
    this.#pending.ask(audience, request, signal);

  /** A client's answer to a request of the server. It takes effect with `take`. */
  answer(response: ClientResponse, connectionId: number): ClientAnswer {
    return {
      threadId: this.#pending.threadOf(response.id),
      take: async () => {
        const connection = this.#connections.get(connectionId);
        if (connection !== undefined) await this.#pending.answer(response, connection);
      },
    };
  }

  /**
   * From now on no request waits once every client has closed its side: its answer is `clientGone`.
   */
  drain(): void {
    this.#pending.drain();
  }

  drained(audience: Audience): Promise<void> | null {
    const waits = [];
    const isOwnWork = typeof audience === 'object' && 'connection' in audience;
    for (const connection of this.#audience(audience)) {
      const wait = isOwnWork ? connection.drained() : connection.heldBack();
      if (wait !== null) waits.push(wait);
    }
    return waits.length === 0 ? null : Promise.all(waits).then(() => undefined);
  }

  flush(audience: Audience): void {
    for (const connection of this.#audience(audience)) connection.flush();
  }

  /** Ends every connection once its last messages are written. */
  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
  }

  /** A connection does not follow a thread any more. */
  #left(threadId: string, connectionId: number): void {
    this.#providers.left(threadId, connectionId);
    if (this.#rawListeners.get(threadId) === connectionId) this.#rawListeners.delete(threadId);
  }

  /**
   * The connections that a question is put to: for an agent, also those that follow a thread above
   * it.
   */
  #askable(audience: Audience): Iterable<Connection> {
    if (audience === 'everyone' || !('threadId' in audience) || audience.only !== undefined)
      return this.#audience(audience);
    const connections = new Set<Connection>();
    for (const threadId of this.#lineage(audience.threadId))
      for (const each of this.#followers.get(threadId) ?? []) connections.add(each);
    return connections;
  }

  /** A thread, and if it is an agent the threads above it. */
  #lineage(threadId: string): readonly string[] {
    return [threadId, ...(this.#above.get(threadId) ?? [])];
  }

  #audience(audience: Audience): Iterable<Connection> {
    if (audience === 'everyone') return this.#connections.values();
    if ('threadId' in audience && audience.only === undefined)
      return this.#followers.get(audience.threadId) ?? [];
    const id = 'threadId' in audience ? this.#single(audience) : audience.connection;
    const connection = id === null ? undefined : this.#connections.get(id);
    return connection === undefined ? [] : [connection];
  }

  #single({ threadId, only }: Extract<Audience, { threadId: string }>): number | null {
    return only === 'rawEvents'
      ? (this.#rawListeners.get(threadId) ?? null)
      : this.#providers.of(threadId);
  }
}
