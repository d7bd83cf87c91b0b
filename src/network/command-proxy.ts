import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { AddressKind } from '../policy/network/address-kind.ts';
import { type NetworkTarget, targetUrl } from '../policy/network/network-target.ts';
import { PROXY_USER } from '../policy/network/proxy-user.ts';
import type { Dial } from './checked-dial.ts';
import { createHttpForwarder } from './create-http-forwarder.ts';
import { ProxyRefusal, REFUSAL_FORMS } from './proxy-refusal.ts';
import { relay } from './relay.ts';
import { sendAndClose } from './send-and-close.ts';
import type { SocketBudget } from './socket-budget.ts';
import { GRANTED, SOCKS_VERSION, socksHandshake, socksReply, take } from './socks-handshake.ts';
import { whileConnected } from './while-connected.ts';

/** A request of a command to its proxy. */
export interface ProxyRequest {
  target: NetworkTarget;
  /** The method of a plain request. Null: a tunnel. */
  method: string | null;
}

export interface CommandProxyDeps {
  clock: Clock;
  log: Log;
  dial: Dial;
  /**
   * Returns the kinds of addresses that the request may reach. Rejects with a `ProxyRefusal`. May
   * wait for a person. The signal aborts when the connection that the request came from is gone, or
   * the proxy closes.
   */
  decide(request: ProxyRequest, signal: AbortSignal): Promise<readonly AddressKind[]>;
  /** Whether it speaks SOCKS5. */
  socks: boolean;
  /**
   * Both ends of each connection count, and each request that has no connection to its host yet.
   */
  budget: SocketBudget;
}

/** The time for a handshake, or the headers of the first request. */
const HANDSHAKE_MS_MAX = 10_000;
/**
 * A connection on which nothing moves for this time is closed, unless its request waits for a
 * decision.
 */
const IDLE_MS_MAX = 10 * 60 * 1000;
/** How often it looks for such connections. */
const LOOK_MS = 60 * 1000;

/** When bytes were last seen to move on a connection, on the monotonic clock, and how many had. */
interface Activity {
  bytes: number;
  atMs: number;
}

/**
 * The proxy of one command: HTTP, CONNECT and SOCKS5, told apart by the first byte of a connection.
 */
export class CommandProxy {
  readonly #deps: CommandProxyDeps;
  readonly #http;
  readonly #sockets = new Map<Socket, Activity>();
  /** The connections whose requests wait for a decision. */
  readonly #deciding = new Set<Duplex>();
  #looking: Timer | null = null;
  readonly #handshakes = new Map<unknown, () => void>();
  readonly #closing = new AbortController();
  readonly #credentials = new WeakMap<Duplex, string>();
  #undecided = 0;

  constructor(deps: CommandProxyDeps) {
    this.#deps = deps;
    this.#http = createHttpForwarder({
      open: (request, client) => this.#open(request, client),
      isAuthorized: (socket, header) => isBasic(header, this.#credentials.get(socket) ?? null),
      join: relay,
      end: (socket, bytes) => sendAndClose(socket, bytes, deps.clock),
      onRequest: (socket) => this.#handshakes.get(socket)?.(),
    });
  }

  /**
   * Serves a connection. Above the limit, closes it. The client must give the credential as the
   * password of the user `heddle`. Null: none, because only the command can have made the
   * connection.
   */
  serve(socket: Socket, credential: string | null): void {
    if (
      this.#closing.signal.aborted ||
      !this.#deps.budget.allows(this.#sockets.size + this.#undecided)
    ) {
      socket.destroy();
      return;
    }
    this.#keep(socket);
    if (credential !== null) this.#credentials.set(socket, credential);
    const timer = this.#deps.clock.setTimer(() => socket.destroy(), HANDSHAKE_MS_MAX);
    const arrived = () => {
      timer.clear();
      this.#handshakes.delete(socket);
    };
    this.#handshakes.set(socket, arrived);
    socket.once('close', arrived);
    void this.#speak(socket).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'a connection to the proxy of a command failed');
      socket.destroy();
    });
  }

  /** Closes all connections and gives up what waits. */
  close(): void {
    this.#closing.abort();
    this.#looking?.clear();
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  async #speak(socket: Socket): Promise<void> {
    const first = await take(socket, 1);
    if (first === null) {
      socket.destroy();
    } else if (first[0] !== SOCKS_VERSION) {
      socket.unshift(first);
      this.#http.emit('connection', socket);
    } else if (this.#deps.socks) {
      await this.#speakSocks(socket);
    } else {
      socket.destroy();
    }
  }

  async #speakSocks(socket: Socket): Promise<void> {
    const end = (bytes: Buffer) => sendAndClose(socket, bytes, this.#deps.clock);
    try {
      const credential = this.#credentials.get(socket);
      const isCredential = (user: string, password: string) =>
        user === PROXY_USER && isSame(password, credential ?? '');
      const wanted = await socksHandshake(socket, {
        isCredential: credential === undefined ? null : isCredential,
        end,
      });
      this.#handshakes.get(socket)?.();
      if (wanted === null) {
        if (!socket.writableEnded) socket.destroy();
        return;
      }
      const upstream = await this.#open(
        { target: { ...wanted, protocol: 'socks5Tcp' }, method: null },
        socket,
      );
      socket.write(socksReply(GRANTED));
      relay(socket, upstream);
    } catch (error) {
      if (!(error instanceof ProxyRefusal)) throw error;
      end(socksReply(REFUSAL_FORMS[error.code].socks));
    }
  }

  /**
   * Connects to the target of a client's request if it is allowed. Rejects with a `ProxyRefusal`.
   */
  async #open(request: ProxyRequest, client: Duplex): Promise<Socket> {
    const { signal } = this.#closing;
    const { budget } = this.#deps;
    if (!budget.allows(this.#sockets.size + this.#undecided))
      throw new ProxyRefusal('busy', 'The command has too many connections.');
    this.#undecided++;
    budget.count(1);
    try {
      const reaches = await this.#decide(request, client);
      const upstream = await this.#deps.dial(request.target, reaches, signal);
      this.#keep(upstream);
      if (signal.aborted) upstream.destroy();
      // It can be closed already, and would not say so again.
      if (upstream.destroyed)
        throw new ProxyRefusal('unreachable', `${request.target.host} has closed the connection.`);
      return upstream;
    } catch (error) {
      if (error instanceof ProxyRefusal) {
        this.#deps.log.debug(
          { target: targetUrl(request.target), code: error.code },
          'the proxy of a command refused a connection',
        );
        throw error;
      }
      if (signal.aborted)
        throw new ProxyRefusal('busy', 'The command has ended.', { cause: error });
      this.#deps.log.warn(
        { err: error, target: targetUrl(request.target) },
        'the proxy of a command failed',
      );
      throw new ProxyRefusal('unreachable', 'The proxy failed.', { cause: error });
    } finally {
      this.#undecided--;
      budget.count(-1);
    }
  }

  async #decide(request: ProxyRequest, client: Duplex): Promise<readonly AddressKind[]> {
    this.#deciding.add(client);
    try {
      return await whileConnected(client, request.method !== null, (gone) =>
        this.#deps.decide(request, gone),
      );
    } finally {
      this.#deciding.delete(client);
    }
  }

  /** Keeps a socket until it is closed. A socket that fails is closed by itself. */
  #keep(socket: Socket): void {
    const { budget } = this.#deps;
    this.#sockets.set(socket, { bytes: -1, atMs: this.#deps.clock.monotonic() });
    this.#looking ??= this.#deps.clock.setTimer(() => this.#closeIdle(), LOOK_MS);
    budget.count(1);
    socket.setNoDelay();
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#sockets.delete(socket);
      budget.count(-1);
    });
  }

  /**
   * Closes the connections on which nothing moves any more. The other end of each is closed with
   * it.
   */
  #closeIdle(): void {
    const nowMs = this.#deps.clock.monotonic();
    for (const [socket, activity] of this.#sockets) {
      const bytes = socket.bytesRead + socket.bytesWritten;
      if (bytes !== activity.bytes || this.#deciding.has(socket))
        Object.assign(activity, { bytes, atMs: nowMs });
      else if (nowMs - activity.atMs >= IDLE_MS_MAX) socket.destroy();
    }
    this.#looking =
      this.#sockets.size === 0 ? null : this.#deps.clock.setTimer(() => this.#closeIdle(), LOOK_MS);
  }
}

function isBasic(header: string | undefined, credential: string | null): boolean {
  if (credential === null) return true;
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(header ?? '') ?? [];
  return isSame(Buffer.from(encoded, 'base64').toString('latin1'), `${PROXY_USER}:${credential}`);
}

function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
