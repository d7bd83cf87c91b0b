import { spawnSource } from '../../store/spawn-source.ts';
import type { LoadedThread } from './loaded-thread.ts';

/**
 * Resolves when the turns that run now, or are being begun, have ended, and those of their agents.
 * `loaded`: the loaded threads, now.
 */
export async function turnsEnded(loaded: () => Iterable<LoadedThread>): Promise<void> {
  const running = () => [...loaded()].filter(({ isRunning }) => isRunning);
  const sessions = new Set(running().map(({ record }) => record.sessionId));
  await Promise.all(running().map((thread) => thread.turnEnded()));
  // Agents may have started others meanwhile.
  for (;;) {
    const agents = running().filter(
      ({ record }) => spawnSource(record.source) !== null && sessions.has(record.sessionId),
    );
    if (agents.length === 0) return;
    await Promise.all(agents.map((thread) => thread.turnEnded()));
  }
}
