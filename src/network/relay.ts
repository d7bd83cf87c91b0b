import type { Duplex } from 'node:stream';
import type { Clock } from '../base/clock.ts';

/** A connection on which nothing moves for this time is closed. */
const IDLE_MS_MAX = 10 * 60 * 1000;

/**
 * Passes all bytes of each side to the other one, as fast as it takes them. A side that ends its output can still receive. Closes both
 * when one fails, or when nothing moves for `IDLE_MS_MAX`. Resolves when both are closed.
 */
export function relay(left: Duplex, right: Duplex, clock: Clock): Promise<void> {
  let moved = false;
  const close = () => {
    left.destroy();
    right.destroy();
  };
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.on('data', () => {
      moved = true;
    });
    from.on('error', close);
    // Also when it is closed without an end, which `pipe` does not pass on.
    from.on('close', () => (from.readableEnded ? to.end() : to.destroy()));
    from.pipe(to);
  }
  if (left.destroyed || right.destroyed) close();
  let timer = clock.setTimer(look, IDLE_MS_MAX);
  function look(): void {
    if (!moved) {
      close();
      return;
    }
    moved = false;
    timer = clock.setTimer(look, IDLE_MS_MAX);
  }
  return Promise.all([closed(left), closed(right)]).then(() => timer.clear());
}

function closed(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}
