import type { Readable } from 'node:stream';

/** How long nothing may come, once the program has ended, before the rest is given up. */
const SILENCE_MS = 100;
/** How long what still writes may go on, once the program has ended. */
const TAIL_MS_MAX = 1_000;
const POLL_MS = 20;

/** The reading end of a process's output. */
export interface OutputReader {
  pause(): void;
  resume(): void;
  /** From now on nothing holds it up: pauses are no more. */
  hurry(): void;
  /**
   * To be called when the program has ended: resolves when all that it wrote has been read, and gives up what comes later.
   * What others still hold open is waited for a moment. A pause does not count.
   */
  finish(): Promise<void>;
}

interface Source {
  stream: Readable | null;
  onData: (bytes: Buffer) => void;
}

export function drainOutput(sources: readonly Source[]): OutputReader {
  const streams = sources.flatMap(({ stream }) => stream ?? []);
  const open = new Set<Readable>(streams);
  let paused = false;
  let hurried = false;
  let quietMs = 0;
  let onClosed = () => {};
  for (const { stream, onData } of sources) {
    stream?.on('data', (bytes: Buffer) => {
      quietMs = 0;
      onData(bytes);
    });
    stream?.on('error', () => {});
    stream?.once('close', () => {
      open.delete(stream);
      if (open.size === 0) onClosed();
    });
  }
  const resume = () => {
    paused = false;
    for (const stream of streams) stream.resume();
  };
  return {
    pause() {
      if (hurried) return;
      paused = true;
      for (const stream of streams) stream.pause();
    },
    resume,
    hurry() {
      hurried = true;
      resume();
    },
    async finish() {
      quietMs = 0;
      let tailMs = 0;
      await new Promise<void>((resolve) => {
        const timer = setInterval(() => {
          if (paused) return;
          quietMs += POLL_MS;
          tailMs += POLL_MS;
          if (quietMs >= SILENCE_MS || tailMs >= TAIL_MS_MAX) onClosed();
        }, POLL_MS);
        onClosed = () => {
          clearInterval(timer);
          resolve();
        };
        if (open.size === 0) onClosed();
      });
      for (const stream of open) stream.removeAllListeners('data').destroy();
    },
  };
}
