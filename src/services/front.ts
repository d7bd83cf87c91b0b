import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { KeepAlive } from '../base/keep-alive.ts';
import type { Clients } from '../server/clients.ts';
import type { Dispatcher } from '../server/dispatcher.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import type { Pacing } from './app-parts.ts';
import type { RecentLog } from './recent-log.ts';

/** The parts of the server that its connections need from the start. */
export interface Front {
  clients: Clients;
  dispatcher: Dispatcher;
  clock: Clock;
  ids: Ids;
  log: RecentLog;
  keepAlive: KeepAlive;
  pace: Pacing;
  store: ThreadStore;
}
