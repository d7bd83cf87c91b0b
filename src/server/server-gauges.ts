import type { Threads } from '../agent/threads/threads.ts';
import type { Clients } from './clients.ts';
import type { Dispatcher } from './dispatcher.ts';

/** How busy the server is, by the names of the gauges in the schema. */
export function serverGauges(
  clients: Clients,
  dispatcher: Dispatcher,
  threads: Threads,
): Record<string, number> {
  return {
    'app.connections.open': clients.connectionCount,
    'app.requests.in_flight': dispatcher.inFlight,
    'app.requests.queued': dispatcher.queued,
    'app.server_requests.pending': clients.pendingCount,
    'core.threads.live': threads.ids().length,
    'core.turns.running': threads.turnsRunning,
  };
}
