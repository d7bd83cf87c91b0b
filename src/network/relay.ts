import type { Duplex } from 'node:stream';

/**
 * Passes all bytes of each side to the other one, as fast as it takes them. A side that ends its
 * output can still receive. Closes both when one fails.
 */
export function relay(left: Duplex, right: Duplex): void {
  const close = () => {
    left.destroy();
    right.destroy();
  };
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    from.on('error', close);
    // Also when it is closed without an end, which `pipe` does not pass on.
    from.on('close', () => (from.readableEnded ? to.end() : to.destroy()));
    from.pipe(to);
  }
  if (left.destroyed || right.destroyed) close();
}
