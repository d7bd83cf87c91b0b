import type { LogEntry } from '../../../src/store/log-entry.ts';
import { fillThread, openStore } from '../../store/fill-thread.ts';
import {
  agentMessage,
  idOf,
  itemEntry,
  settings,
  threadRecord,
  turnEnded,
  turnStarted,
  userMessage,
} from '../../store/samples.ts';
import { asked } from '../../support/test-model.ts';

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
export async function fillHistory(
  home: string,
  { thread, turns, messages, chars }: History,
): Promise<void> {
  const text = 'x'.repeat(chars);
  const turnsOf = Array.from({ length: turns }, (_, index): LogEntry[] => {
    const turnId = `${idOf(thread)} turn ${index + 1}`;
    const said = Array.from({ length: messages }, (__, answer): LogEntry[] => [
      itemEntry(turnId, agentMessage(`${turnId} answer ${answer}`, text)),
      {
        kind: 'model',
        turnId,
        item: {
          ...asked(text),
          role: 'assistant',
          content: [{ type: 'output_text', text }],
        } as never,
      },
    ]);
    const question: LogEntry[] = [
      itemEntry(turnId, userMessage(`${turnId} question`)),
      { kind: 'model', turnId, item: asked('hi') },
    ];
    return [turnStarted(turnId), ...question, ...said.flat(), turnEnded(turnId)];
  });
  const store = openStore(home);
  await fillThread(store, threadRecord(thread, { settings: { ...settings, cwd: home } }), turnsOf);
  await store.close();
}
