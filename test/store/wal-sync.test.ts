import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WalSync } from '../../src/store/sqlite/wal/wal-sync.ts';

/**
 * Flushes a file, and counts the flushes that other threads and this one make. `slow`: how each one
 * takes its time.
 */
function counted(slow: { elsewhere: () => void; here: () => void }) {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-wal-sync-'));
  const file = join(folder, 'heddle.db');
  writeFileSync(`${file}-wal`, '');
  const flushes = { elsewhere: 0, here: 0 };
  const walSync = new WalSync(file, {
    sync: async () => {
      flushes.elsewhere++;
      slow.elsewhere();
    },
    syncAtOnce: () => {
      flushes.here++;
      slow.here();
    },
  });
  onTestFinished(async () => {
    await walSync.close();
    rmSync(folder, { recursive: true });
  });
  return { walSync, flushes };
}

/** Takes longer than a fast disk. */
function dawdle(): void {
  const untilMs = performance.now() + 3;
  while (performance.now() < untilMs);
}

test('flushes that are fast are made in the thread, until one is not', async () => {
  let dawdles = false;
  const { walSync, flushes } = counted({ elsewhere: () => {}, here: () => dawdles && dawdle() });
  for (let count = 0; count < 15; count++) await walSync.flush();
  expect(flushes).toEqual({ elsewhere: 10, here: 5 });
  dawdles = true;
  await walSync.flush();
  for (let count = 0; count < 5; count++) await walSync.flush();
  expect(flushes).toEqual({ elsewhere: 15, here: 6 });
});

test('slow flushes are never made in the thread', async () => {
  const { walSync, flushes } = counted({ elsewhere: dawdle, here: () => {} });
  for (let count = 0; count < 15; count++) await walSync.flush();
  expect(flushes).toEqual({ elsewhere: 15, here: 0 });
});

test('a flush in the thread that fails rejects, and so do the calls that share it', async () => {
  const fail = () => {
    throw new Error('EIO');
  };
  const { walSync } = counted({ elsewhere: () => {}, here: fail });
  for (let count = 0; count < 10; count++) await walSync.flush();
  const calls = [walSync.flush(), walSync.flush()];
  for (const call of calls) await expect(call).rejects.toThrow('EIO');
});
