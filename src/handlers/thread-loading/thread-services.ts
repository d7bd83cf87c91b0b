import type { ClientChannel } from '../../agent/client-channel.ts';
import type { Threads } from '../../agent/threads/threads.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { ThreadStore } from '../../store/thread-store.ts';
import type { HistoryAnswers } from '../history/history-answers.ts';

/** The connections that follow each thread. */
export interface Followers {
  subscribe(threadId: string, connection: number): void;
  /** Returns false if the connection did not follow the thread. */
  unsubscribe(threadId: string, connection: number): boolean;
  isFollowed(threadId: string): boolean;
  /** Removes all followers of a thread that can no longer be loaded. */
  unsubscribeAll(threadId: string): void;
  /**
   * Makes a follower the one that runs the tools of clients, unless another one does. `isDeclarer`:
   * it is the client that declared them, perhaps by another connection, and takes the place of any
   * other client.
   */
  provideTools(threadId: string, connection: number, options: { isDeclarer: boolean }): void;
  /** Sends a follower the thread's raw events, too. */
  sendRawEvents(threadId: string, connection: number): void;
  /** Sends a connection the thread's requests to clients that are still open. */
  replay(threadId: string, connection: number): void;
}

/** Collaborators of the handlers for threads and turns. */
export interface ThreadServices {
  threads: Threads;
  store: ThreadStore;
  clients: ClientChannel;
  followers: Followers;
  answers: HistoryAnswers;
  clock: Clock;
  ids: Ids;
  /** The server's working directory. */
  cwd: string;
  /** The provider of threads that name none; null if the configuration is invalid. */
  defaultProvider: () => Promise<string | null>;
}
