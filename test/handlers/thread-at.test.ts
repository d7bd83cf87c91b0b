import { expect, test } from 'vitest';
import type { Caller } from '../../src/handlers/requested/method.ts';
import { threadAt } from '../../src/handlers/thread-loading/thread-at.ts';
import type { ThreadServices } from '../../src/handlers/thread-loading/thread-services.ts';
import { threadRecord } from '../store/samples.ts';
import { FakeClock } from '../support/fake-clock.ts';

test('the client that asks for a long import is told of its progress every three seconds', async () => {
  const clock = new FakeClock();
  const sent: unknown[] = [];
  const imported = threadRecord(1);
  const deps = {
    clock,
    store: { findThreadByPath: async () => null },
    clients: { publish: (...args: unknown[]) => sent.push(args) },
    threads: {
      import: async ({ onProgress }: { onProgress: (progress: object) => void }) => {
        for (let percent = 0; percent <= 100; percent += 20) {
          onProgress({ step: percent < 50 ? 'read' : 'stored', percent });
          clock.advance(1_000);
        }
        return imported;
      },
    },
  };
  expect(
    await threadAt(deps as unknown as ThreadServices, '/x.jsonl', { id: 7 } as unknown as Caller),
  ).toBe(imported);
  const told = (message: string) => [{ connection: 7 }, 'warning', { threadId: null, message }];
  expect(sent).toEqual([told('/x.jsonl is being imported: 60 % stored.')]);
});
