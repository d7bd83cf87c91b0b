import type { Runtime } from '../base/runtime.ts';
import type { Clients } from '../server/clients.ts';
import type { Dispatcher } from '../server/dispatcher.ts';
import type { ThreadStore } from '../store/thread-store.ts';
import type { Pacing } from './app-parts.ts';
import type { RecentLog } from './recent-log.ts';

/** The parts of the server that its connections need from the start. */
export interface Front extends Runtime {
  clients: Clients;
  dispatcher: Dispatcher;
  log: RecentLog;
  pace: Pacing;
  store: ThreadStore;
}
