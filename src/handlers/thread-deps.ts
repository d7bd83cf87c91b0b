import type { Publisher } from '../agent/publisher.ts';
import type { Threads } from '../agent/threads.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { ThreadStore } from '../store/thread-store.ts';

/** How the handlers reach the connections that follow a thread. */
export interface Followers {
  subscribe(threadId: string, connection: number): void;
  /** False when the connection did not follow the thread. */
  unsubscribe(threadId: string, connection: number): boolean;
  /** Nobody follows the thread any more: it cannot be loaded as it is. */
  unsubscribeAll(threadId: string): void;
  /** Shows a connection what was asked in the thread before it came. */
  replay(threadId: string, connection: number): void;
}

/** What the handlers of threads and turns are made with. */
export interface ThreadDeps {
  threads: Threads;
  store: ThreadStore;
  publisher: Publisher;
  followers: Followers;
  clock: Clock;
  ids: Ids;
  /** The provider of threads that name none; null when the configuration does not say. */
  defaultProvider: () => Promise<string | null>;
}
