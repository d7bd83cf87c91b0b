import { isObject } from '../base/json-value.ts';
import type { Notification, Subscriber, SubscriptionOptions } from './client-options.ts';
import { NotificationStream } from './notification-stream.ts';
import type { ConnectionError } from './request-error.ts';

/** The subscribers to a connection's notifications. */
export class Subscriptions {
  readonly #subscribers = new Set<Subscriber>();
  /** Set when the connection has ended. */
  #end: { error: ConnectionError | null } | null = null;

  /** Returns a function that ends the subscription. */
  add(subscriber: Subscriber): () => void {
    if (this.#end === null) this.#subscribers.add(subscriber);
    else subscriber.end(this.#end.error);
    return () => {
      this.#subscribers.delete(subscriber);
    };
  }

  deliver(notification: Notification): void {
    for (const subscriber of [...this.#subscribers]) {
      try {
        subscriber.take(notification);
      } catch (error) {
        // A listener that throws must not keep others from the notification. The process gets its
        // error as an uncaught exception.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  /** The connection has ended. The error is null if this side closed it. */
  finish(error: ConnectionError | null): void {
    this.#end = { error };
    for (const subscriber of this.#subscribers) subscriber.end(error);
    this.#subscribers.clear();
  }

  /** An iterator over what `pick` returns for each notification. Leaves out undefined. */
  iterate<T>(
    { threadId, signal }: SubscriptionOptions,
    pick: (notification: Notification) => T | undefined,
  ): NotificationStream<T> {
    const stop = () => {
      unsubscribe();
      signal?.removeEventListener('abort', onAbort);
    };
    const stream = new NotificationStream<T>(stop);
    const onAbort = () => {
      stop();
      stream.end(null);
    };
    const unsubscribe = this.add({
      take: (notification) => {
        if (threadId !== undefined && threadOf(notification) !== threadId) return;
        const value = pick(notification);
        if (value !== undefined) stream.push(value);
      },
      end: (error) => stream.end(error),
    });
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    return stream;
  }
}

/** The thread that a notification is about. */
function threadOf({ params }: Notification): string | null | undefined {
  if ('threadId' in params) return params.threadId;
  return 'thread' in params && isObject(params.thread) ? params.thread.id : undefined;
}
