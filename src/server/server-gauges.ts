import type { Threads } from '../agent/threads.ts';
import type { Clients } from './clients.ts';
import type { Dispatcher } from './dispatcher.ts';

interface Measured {
  clients: Clients;
  dispatcher: Dispatcher;
  threads: Threads;
}

/** How busy the server is, by names as in the schema. */
export function serverGauges({ clients, dispatcher, threads }: Measured): Record<string, number> {
  const loaded = threads.ids().map((id) => threads.find(id));
  return {
    'app.connections.open': clients.connectionCount,
    'app.requests.in_flight': dispatcher.inFlight,
    'app.requests.queued': dispatcher.queued,
    'app.server_requests.pending': clients.askedCount,
    'core.threads.live': loaded.length,
    'core.turns.running': loaded.filter((thread) => thread !== null && thread.turn !== null).length,
  };
}
