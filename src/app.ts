import type { Backend } from './backend.ts';
import { systemClock } from './base/clock.ts';
import { protectStore, storeFileIn } from './base/files/own-file.ts';
import { systemIds } from './base/ids.ts';
import { KeepAlive } from './base/keep-alive.ts';
import { KeyedQueue } from './base/keyed-queue.ts';
import { Once } from './base/loading/once.ts';
import { atOnce } from './base/pace.ts';
import { initializeMethods } from './handlers/initialize.ts';
import { Clients } from './server/clients.ts';
import { closeInOrder } from './server/close-in-order.ts';
import { Dispatcher } from './server/dispatcher.ts';
import { serveClient } from './server/serve-client.ts';
import { serverCapabilities } from './server/server-capabilities.ts';
import type { UnknownNames } from './server/unknown-names.ts';
import type { AppParts, Pacing } from './services/app-parts.ts';
import type { Front } from './services/front.ts';
import { RecentLog } from './services/recent-log.ts';
import type { Transport } from './transport/transport.ts';

export interface App {
  /**
   * Serves a client. Resolves when the client is gone and all its requests are answered, or when
   * this server is closed. With `drain`, turns that run when the client closes its side first run
   * to their end, and the client gets their events. After that no turn begins by itself.
   */
  connect(transport: Transport, options?: { drain?: boolean }): Promise<void>;
  /**
   * The number of turns that run or are being begun, of requests to clients that wait for an
   * answer, and of requests of clients that are not answered yet.
   */
  open(): { turns: number; questions: number; requests: number };
  /** From now on no turn begins. Resolves when those that run have ended. */
  drain(): Promise<void>;
  /** Sends a text for the user to all clients. */
  warn(message: string): void;
  /**
   * Ends every turn, stores the state and releases all resources. Models read the reason: by
   * default `shutdown`. Resolves with the reports of models that check their use, such as scripted
   * ones. There are none if every script was followed.
   */
  close(reason?: 'shutdown' | 'clientGone'): Promise<string[]>;
}

/** The most requests that are kept for a look at their names until the backend is loaded. */
const EARLY_REQUESTS_MAX = 50;

/** Everything happens at once. */
const unordered: Pacing = { ...atOnce, processes: (inner) => inner, store: (inner) => inner };

/**
 * Creates the server from its parts. Until the first handshake is answered there are only
 * connections: the handshake needs a tenth of the code. The rest (backend.ts) is loaded then, while
 * the client reads the response.
 */
export function createApp(options: AppParts): App {
  const releaseStore = protectStore(storeFileIn(options.storeDir ?? options.home));
  const { home, version, platform } = options;
  const { clock = systemClock, ids = systemIds, pacing = unordered } = options;
  const log = new RecentLog(options.log, clock);
  const clients = new Clients({ clock, log, outlivesClients: options.outlivesClients });
  const keepAlive = new KeepAlive();
  /** By connection: the handshake, until the warnings that follow it are sent. */
  const handshakes = new KeyedQueue();
  const onHandshake = async (connection: number) => {
    await nextTurn();
    options.onHandshake?.();
    await backend.load().then(
      (loaded) => {
        backend.heedEarly(loaded);
        return loaded.tellOfProblems(connection);
      },
      (error: unknown) => log.error({ err: error }, 'the server could not be loaded'),
    );
  };
  const handshake = initializeMethods({
    home,
    version,
    platform,
    capabilities: () => serverCapabilities(platform),
    onHandshake: (connection) =>
      void handshakes.run(`${connection}`, () => onHandshake(connection)),
  });
  const rows = () => backend.loaded?.rows ?? backend.load().then((loaded) => loaded.rows);
  const dispatcher = new Dispatcher({ handshake, rows, log });
  const front: Front = {
    clients,
    dispatcher,
    clock,
    ids,
    log,
    keepAlive,
    workerScript: options.workerScript ?? null,
    pace: pacing,
    store: pacing.store(options.store),
  };
  const backend = new LateBackend(options, front);
  const warned = (connection: number) => handshakes.tail(`${connection}`);
  const served = {
    ...front,
    tap: options.tap ?? null,
    backend: () => backend.loaded,
    warned,
    heed: backend.heed,
  };
  let connections = 0;

  return {
    connect: (transport, { drain = false } = {}) =>
      serveClient(served, { number: connections++, transport, drain }),
    open: () => ({
      turns: backend.loaded?.threads.turnsRunning ?? 0,
      questions: clients.pendingCount,
      requests: dispatcher.inFlight + dispatcher.queued,
    }),
    drain() {
      dispatcher.drain();
      return keepAlive.during(backend.loaded?.threads.drain() ?? Promise.resolve());
    },
    warn: (message) => clients.publish('everyone', 'warning', { message, threadId: null }),
    close(reason) {
      dispatcher.end();
      return keepAlive.during(backend.close(reason).finally(releaseStore));
    },
  };
}

/** The backend, which is loaded when it is first needed. */
class LateBackend {
  readonly #options: AppParts;
  readonly #front: Front;
  readonly #loading = new Once(() =>
    this.#front.keepAlive.during(this.#front.pace.during(this.#load())),
  );
  #loaded: Backend | null = null;
  /** The requests that were read before the backend was loaded. */
  readonly #early: Parameters<UnknownNames['heed']>[] = [];

  constructor(options: AppParts, front: Front) {
    this.#options = options;
    this.#front = front;
  }

  /** Looks for unknown names in a request, once the backend is there. */
  readonly heed: UnknownNames['heed'] = (client, method, params) => {
    if (this.#loaded !== null) this.#loaded.unknownNames.heed(client, method, params);
    else if (this.#early.length < EARLY_REQUESTS_MAX) this.#early.push([client, method, params]);
  };

  /** Looks at the requests that came before the backend was there. */
  heedEarly({ unknownNames }: Backend): void {
    for (const [client, method, params] of this.#early.splice(0))
      unknownNames.heed(client, method, params);
  }

  /** Null before it is loaded. */
  get loaded(): Backend | null {
    return this.#loaded;
  }

  load(): Promise<Backend> {
    return this.#loading.get();
  }

  /**
   * Loads it if it is not loaded, so that everything is released in one way. If it cannot be
   * loaded, only the front is released.
   */
  async close(reason?: 'shutdown' | 'clientGone'): Promise<string[]> {
    const { clients, store } = this.#front;
    const backend = await this.load().catch(async (error: unknown) => {
      await closeInOrder([() => clients.close(), () => store.close()]);
      throw error;
    });
    return backend.close(reason);
  }

  async #load(): Promise<Backend> {
    // In steps, because the client may send requests at once: all of it takes some 25 ms.
    await nextTurn();
    await import('./config/load-config.ts');
    await nextTurn();
    await import('./agent/threads/threads.ts');
    await nextTurn();
    await import('./handlers/method-table.ts');
    await nextTurn();
    const { createBackend } = await import('./backend.ts');
    await nextTurn();
    this.#loaded = createBackend(this.#options, this.#front);
    return this.#loaded;
  }
}

/**
 * Resolves one turn of the event loop later. The connections have written by then what they were to
 * send.
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
