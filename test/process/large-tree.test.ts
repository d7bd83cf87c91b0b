// @module-tag slow
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { TokenUsageBreakdown } from '../../src/protocol/generated/types.ts';
import { defineFolded } from '../../src/store/sqlite/thread-table/define-folded.ts';
import { fillThread, openStore } from '../store/fill-thread.ts';
import { agentRecord, idOf, settings, threadRecord, turnEntries } from '../store/samples.ts';
import { memorySlowness } from '../support/memory-slowness.ts';
import { type Place, place, startHeddle } from './support.ts';

const AGENTS = 9_900;
const ROOT = idOf(1);
const FIRST = 100_000;
const TURN = idOf(2);
/**
 * The most processor time, in ticks of a hundredth of a second, for both threads: other programs
 * make the time of the clock longer.
 */
const RESUME_TICKS_MAX = 8;
const ARCHIVE_TICKS_MAX = 100;

const used: TokenUsageBreakdown = {
  totalTokens: 10,
  inputTokens: 6,
  cachedInputTokens: 3,
  cacheWriteInputTokens: 2,
  outputTokens: 4,
  reasoningOutputTokens: 1,
};

/** Stores a thread with so many agents: every tenth was started by another agent. */
async function storeTree({ home, work }: Place): Promise<void> {
  const store = openStore(home);
  const here = { settings: { ...settings, cwd: work }, path: null };
  const tokenUsage = { turnId: TURN, usage: { total: used, last: used, modelContextWindow: null } };
  await fillThread(store, threadRecord(1, { ...here, tokenUsage }), [turnEntries(TURN)]);
  const agent = { ...here, sessionId: ROOT, spawnTurnId: TURN, tokenUsage };
  await fillThread(store, agentRecord(FIRST, 1, agent), [turnEntries(TURN)]);
  await store.close();
  const db = new Database(join(home, 'heddle.db'));
  defineFolded(db);
  const parent = `CASE n % 10 WHEN 0 THEN '${idOf(FIRST)}' ELSE '${ROOT}' END`;
  const columns = (db.pragma('table_info(thread)') as { name: string }[]).map(({ name }) => name);
  const values = columns.map((name) => {
    if (name === 'id') return `substr(id, 1, length(id) - 6) || (${FIRST} + n)`;
    if (name === 'parent_id') return parent;
    if (name === 'origin')
      return `replace(origin, '"parent_thread_id":"${ROOT}"', '"parent_thread_id":"' || ${parent} || '"')`;
    return name === 'log_id' ? 'log_id + n' : name;
  });
  db.exec(`
    BEGIN;
    CREATE TEMP TABLE number AS WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < ${AGENTS - 1}) SELECT n FROM up;
    INSERT INTO log (id) SELECT log_id + n FROM thread, number WHERE id = '${idOf(FIRST)}';
    INSERT INTO thread (${columns.join()}) SELECT ${values.join()} FROM thread, number WHERE id = '${idOf(FIRST)}';
    INSERT INTO history (thread_id, before_id, log_id) SELECT id, 0, log_id FROM thread WHERE id > '${idOf(FIRST)}';
    INSERT INTO entry (log_id, ordinal, kind, type, turn_id, item_id, payload)
      SELECT entry.log_id + n, ordinal, kind, type, turn_id, item_id, payload
      FROM entry, number WHERE entry.log_id = (SELECT log_id FROM thread WHERE id = '${idOf(FIRST)}');
    COMMIT;
  `);
  db.close();
}

test('a thread with 9,900 agents is resumed, and archived with all of them, with little work', {
  timeout: 120_000,
}, async () => {
  const where = place({ 'config.toml': 'model_provider = "scripted"\n' });
  await storeTree(where);
  const heddle = await startHeddle(where);
  const other = (await heddle.request('thread/start', {})).thread.id;
  await heddle.turn(other, 'say ready');
  const slowness = memorySlowness();
  const before = heddle.ticks();
  await heddle.request('thread/resume', { threadId: ROOT });
  const resumed = heddle.ticks();
  const told = await heddle.waitFor(
    'thread/tokenUsage/updated',
    ({ threadId }) => threadId === ROOT,
  );
  expect(told.tokenUsage.withAgents?.totalTokens).toBe(10 * (AGENTS + 1));
  await heddle.request('thread/archive', { threadId: ROOT });
  const archived = heddle.ticks();
  await expect
    .poll(() => heddle.notifications('thread/archived').length, { timeout: 20_000 })
    .toBe(AGENTS + 1);
  expect(
    new Set(heddle.notifications('thread/archived').map(({ threadId }) => threadId)).size,
  ).toBe(AGENTS + 1);
  const list = { sourceKinds: ['subAgentThreadSpawn' as const], limit: 1 };
  expect((await heddle.request('thread/list', list)).data).toEqual([]);
  expect((await heddle.request('thread/list', { ...list, archived: true })).data).toHaveLength(1);
  expect(resumed - before).toBeLessThan(RESUME_TICKS_MAX * slowness);
  expect(archived - resumed).toBeLessThan(ARCHIVE_TICKS_MAX * slowness);
});
