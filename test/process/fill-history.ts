import { dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import type { LogEntry } from '../../src/store/thread-store.ts';
import {
  agentMessage,
  idOf,
  itemEntry,
  modelMessage,
  settings,
  threadRecord,
  turnEnded,
  turnStarted,
  userMessage,
} from '../store/samples.ts';

interface History {
  /** The number of the thread, for `idOf`. */
  thread: number;
  turns: number;
  /** The messages of the agent in each turn. */
  messages: number;
  /** The length of each message. All have the same text, which the store keeps once. */
  chars: number;
}

/** Stores a thread with long messages in a home, which a server may have open. */
export async function fillHistory(home: string, { thread, turns, messages, chars }: History): Promise<void> {
  const ignore = () => {};
  const store = createSqliteStore({
    file: join(home, 'heddle.db'),
    migrationsDir: join(dirname(dirname(import.meta.dirname)), 'migrations'),
    tempDir: home,
    clock: systemClock,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    pid: process.pid,
  });
  const text = 'x'.repeat(chars);
  const writer = await store.createThread(threadRecord(thread, { settings: { ...settings, cwd: home } }));
  for (let turn = 1; turn <= turns; turn++) {
    const turnId = `${idOf(thread)} turn ${turn}`;
    const said = Array.from({ length: messages }, (_, index): LogEntry[] => [
      itemEntry(turnId, agentMessage(`${turnId} answer ${index}`, text)),
      { kind: 'model', turnId, item: { ...modelMessage(text), role: 'assistant', content: [{ type: 'output_text', text }] } as never },
    ]);
    const asked: LogEntry[] = [itemEntry(turnId, userMessage(`${turnId} question`)), { kind: 'model', turnId, item: modelMessage('hi') }];
    await writer.append([turnStarted(turnId), ...asked, ...said.flat(), turnEnded(turnId)]);
  }
  await store.close();
}
