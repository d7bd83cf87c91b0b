import type { Transport } from '../transport/transport.ts';

/**
 * Decides when the messages of a client are delivered: one after another, in the order of the
 * calls.
 */
export interface MessagePace {
  /**
   * Delivers a message after those before it. `onSettled`: the server has done everything that it
   * can do without the next one.
   */
  pass(deliver: () => void, onSettled: () => void): void;
  /**
   * Delivers the end of a client's messages when the server has done everything that it can do
   * without another message.
   */
  end(deliver: () => void): void;
}

/**
 * Passes messages on one by one, each when the server has settled. So nothing depends on how fast
 * they come.
 */
export function pacedTransport(inner: Transport, pace: MessagePace): Transport {
  let waiting = 0;
  let isPaused = false;
  const update = () => (isPaused || waiting > 0 ? inner.pause() : inner.resume());
  const { writeLong } = inner;
  return {
    listen({ onMessage, onSkipped, onEnd }) {
      let isOver = false;
      const passOn = (deliver: () => void) => {
        waiting++;
        // Messages that the client writes meanwhile wait with the client.
        update();
        const onSettled = () => {
          waiting--;
          update();
        };
        pace.pass(() => isOver || deliver(), onSettled);
      };
      const stop = inner.listen({
        onMessage: (text) => passOn(() => onMessage(text)),
        onSkipped: (reason) => passOn(() => onSkipped(reason)),
        onEnd: (error) => pace.end(() => isOver || onEnd(error)),
      });
      return () => {
        isOver = true;
        stop();
      };
    },
    pause() {
      isPaused = true;
      update();
    },
    resume() {
      isPaused = false;
      update();
    },
    write: (texts, onTaken) => inner.write(texts, onTaken),
    ...(writeLong === undefined
      ? {}
      : { writeLong: (parts, onTaken) => writeLong.call(inner, parts, onTaken) }),
    get backlog() {
      return inner.backlog;
    },
    onWriteError: (callback) => inner.onWriteError(callback),
    end: () => inner.end(),
  };
}
