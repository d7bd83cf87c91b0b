import type { Log } from '../log.ts';
import { errorData, errorOf, type KnownErrors } from './error-data.ts';

/** The arguments that a caller gives. A method's last AbortSignal is that of the call. */
type Given<Method> = Method extends (...args: infer Args) => unknown
  ? Args extends [...infer Given, AbortSignal]
    ? Given
    : Args
  : never;
type Result<Method> = Method extends (...args: never[]) => infer Value ? Awaited<Value> : never;
type Name<Api> = keyof Api & string;

/**
 * The methods of an object that may be in another thread. Arguments and results are data, and
 * errors keep their message, and their class if the room has said how.
 */
export interface Remote<Api> {
  /**
   * Calls a method. An abort of the signal is passed on; the call ends when the method does. If it
   * is aborted already, the method is not called, and this rejects with the reason.
   * Rejects with a `PeerEnded` if the other thread ends before.
   */
  call<Method extends Name<Api>>(
    name: Method,
    args: Given<Api[Method]>,
    signal?: AbortSignal,
  ): Promise<Result<Api[Method]>>;
  /** Calls a method for whose end nobody waits. Does nothing if the other thread has ended. */
  tell<Method extends Name<Api>>(name: Method, ...args: Given<Api[Method]>): void;
}

/** The main thread, as a worker has it. */
export interface MainThread<Api> extends Remote<Api> {
  /** The server's log. */
  log: Log;
}

type AnyMethods = Record<string, (...args: readonly unknown[]) => unknown>;

/**
 * An object of this thread, called as one of another thread is: its results come in a microtask,
 * and its errors pass as data, because its script may have classes of its own.
 */
export function localRemote<Api>(
  served: Api | Promise<Api>,
  knownErrors?: KnownErrors,
): Remote<Api> {
  const performing = (name: string, args: readonly unknown[]) => (loaded: Api) =>
    (loaded as AnyMethods)[name]?.(...args);
  return {
    async call(name, args, signal = new AbortController().signal) {
      signal.throwIfAborted();
      try {
        return (await performing(name, [...args, signal])(await served)) as never;
      } catch (error) {
        throw errorOf(errorData(error, knownErrors), knownErrors);
      }
    },
    tell(name, ...args) {
      const perform = performing(name, args);
      // That it cannot be loaded is told by the calls.
      if (served instanceof Promise) void served.then(perform, () => {});
      else perform(served);
    },
  };
}
