/** The time that new connections may take in one round of the event loop. */
const ROUND_MS_MAX = 5;

let startedMs: number | null = null;
let next: Promise<void> | null = null;

/**
 * Await this before work for a new connection or request. Many of them can come at once; beyond the time that they may take in one round
 * of the event loop, this resolves in a later round, so that the server's other work is not held up.
 */
export async function inTime(): Promise<void> {
  for (;;) {
    next ??= new Promise((resolve) => {
      setImmediate(() => {
        startedMs = null;
        next = null;
        resolve();
      });
    });
    startedMs ??= performance.now();
    if (performance.now() - startedMs < ROUND_MS_MAX) return;
    await next;
  }
}
