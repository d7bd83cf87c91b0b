import type { Threads } from '../agent/threads/threads.ts';
import type { Clock } from '../base/clock.ts';
import type { KeepAlive } from '../base/keep-alive.ts';
import type { Log } from '../base/log.ts';
import type { Transport } from '../transport/transport.ts';
import type { WireTap } from '../transport/wire-tap.ts';
import type { ClientServices } from './client-services.ts';
import type { Clients } from './clients.ts';
import { Connection } from './connection.ts';
import type { Dispatcher } from './dispatcher.ts';

interface ServeOptions {
  dispatcher: Dispatcher;
  clients: Clients;
  /** Null until it is loaded: connections have started nothing by then. */
  backend: () => { threads: Threads; services: ClientServices } | null;
  /**
   * Resolves when a connection has the warnings that follow its handshake; null: it has them, or
   * there was no handshake.
   */
  warned: (connection: number) => Promise<void> | null;
  /** Reports names in a request that the protocol does not have. */
  heed: (connection: object, method: string, params: unknown) => void;
  keepAlive: KeepAlive;
  log: Log;
  clock: Clock;
  tap: WireTap | null;
}

interface NewConnection {
  number: number;
  transport: Transport;
  /** Whether turns that run when the client closes its side first run to their end. */
  drain: boolean;
}

/** Serves a connection. Resolves when the client is gone and all its requests are answered. */
export function serveClient(
  { dispatcher, clients, backend, warned, heed, keepAlive, log, clock, tap }: ServeOptions,
  { number, transport, drain }: NewConnection,
): Promise<void> {
  return new Promise((resolve) => {
    const connection = new Connection(number, {
      transport,
      log,
      clock,
      keepAlive,
      tap,
      onShortRequest: heed,
      onOverdue: () => {
        if (drain) return;
        connection.abandon();
        backend()?.services.abandon(connection.id);
      },
      warned: () => warned(number),
      onInputEnd: async () => {
        const begun = backend();
        if (begun === null) return;
        const { threads, services } = begun;
        await Promise.all([
          threads.closing,
          ...(drain ? [lastTurns(threads, clients), services.ended(connection.id)] : []),
        ]);
      },
      onRequest: (caller, method, params) => dispatcher.request(caller, method, params),
      onResponse: (caller, response) =>
        dispatcher.answer(caller, clients.answer(response, caller.id)),
      onClosed: () => {
        for (const threadId of clients.remove(connection))
          backend()?.threads.unloadWhenIdle(threadId);
        backend()?.services.end(connection.id);
        resolve();
      },
    });
    clients.add(connection);
    backend()?.services.open(connection.id);
    connection.listen();
  });
}

/**
 * Resolves when the running turns have ended. Their questions wait no longer than a client can
 * answer.
 */
function lastTurns(threads: Threads, clients: Clients): Promise<void> {
  clients.drain();
  return threads.turnsEnded();
}
