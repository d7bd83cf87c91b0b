import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { atOnce } from '../../src/base/pace.ts';
import type { Processes, RunningProcess } from '../../src/sandbox/processes/processes.ts';
import { FileSearches, type FileSearchesOptions } from '../../src/search/file-searches.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { systemProcesses } from '../sandbox/processes.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';

/** A thread of indexes that answers each query, and dies of the query `die`. */
const MORTAL = `const { parentPort } = require('node:worker_threads');
parentPort.on('message', ([{ call, name, args }]) => {
  if (name !== 'rank') return;
  if (args[1] === 'die') throw new Error('no memory');
  parentPort.postMessage([{ answered: call, value: [] }]);
});`;

function searches(deps: Partial<FileSearchesOptions> = {}) {
  const cwd = tempFolder({ 'a.txt': '', 'index.cjs': MORTAL });
  const sent: { method: string; params: object }[] = [];
  const all = new FileSearches({
    clock: new FakeClock(),
    pace: atOnce,
    log: new RecordingLog(),
    processes: systemProcesses(),
    env: {},
    cwd,
    script: join(cwd, 'index.cjs'),
    notify: (_connection, method, params) => void sent.push({ method, params }),
    drained: () => null,
    ...deps,
  });
  onTestFinished(() => all.close());
  all.open(1);
  const has = (method: string, part: object) =>
    expect.poll(() => sent).toContainEqual({ method, params: expect.objectContaining(part) });
  return { all, cwd, sent, has };
}

test('a search without ripgrep is refused', async () => {
  const { all, cwd } = searches({ program: () => null });
  const refusal = { data: { code: 'search_unavailable' } };
  await expect(all.find(1, { query: 'a', roots: [cwd], token: null })).rejects.toMatchObject(
    refusal,
  );
  expect(() => all.start(1, 's', [cwd])).toThrowError(expect.objectContaining(refusal));
});

test('if the thread of the indexes dies, a search is refused, a session ends, and new ones work', async () => {
  const { all, cwd, has } = searches();
  await expect(all.find(1, { query: 'die', roots: [cwd], token: null })).rejects.toMatchObject({
    data: { code: 'search_failed' },
  });
  for (const session of ['s', 't']) all.start(1, session, [cwd])();
  for (const sessionId of ['s', 't']) await has('fuzzyFileSearch/sessionCompleted', { sessionId });
  all.update(1, 's', 'die')();
  await has('warning', { message: expect.stringContaining('The file search s has ended') });
  expect(() => all.update(1, 's', 'x')).toThrowError(
    expect.objectContaining({ data: { code: 'search_session_not_found' } }),
  );
  all.update(1, 't', 'x')();
  await has('warning', { message: expect.stringContaining('The file search t has ended') });
  all.start(1, 't', [cwd])();
  all.update(1, 't', 'again')();
  await has('fuzzyFileSearch/sessionUpdated', { sessionId: 't', query: 'again' });
});

test('each loss of a session is told, with the reason', async () => {
  const { all, cwd, sent, has } = searches();
  const warnings = () => sent.filter(({ method }) => method === 'warning');
  for (const losses of [1, 2]) {
    all.start(1, 's', [cwd])();
    all.update(1, 's', 'die')();
    await expect.poll(() => warnings().length).toBe(losses);
  }
  const message =
    'The file search s has ended, because the worker that ranks paths has died (no memory). Start it again.';
  await has('warning', { threadId: null, message });
});

test('a folder of which only a part of the files is known is told once, and again after a complete listing', async () => {
  const exitCodes = [134, 134, 0, 134];
  const processes = {
    start: async () =>
      ({
        ended: Promise.resolve({ exitCode: exitCodes.shift() ?? 0, allRead: true }),
      }) as RunningProcess,
  } as Partial<Processes> as Processes;
  const { all, cwd, sent } = searches({ processes, program: () => 'rg' });
  const told: number[] = [];
  while (exitCodes.length > 0) {
    await all.find(1, { query: 'a', roots: [cwd], token: null });
    told.push(sent.length);
  }
  expect(told).toEqual([1, 1, 1, 2]);
});

test('a query that is too long is refused', async () => {
  const { all, cwd } = searches();
  const refusal = { data: { code: 'search_query_too_long', maxChars: 1000, actualChars: 1001 } };
  const query = 'a'.repeat(1001);
  await expect(all.find(1, { query, roots: [cwd], token: null })).rejects.toMatchObject(refusal);
  all.start(1, 's', [cwd])();
  expect(() => all.update(1, 's', query)).toThrowError(expect.objectContaining(refusal));
  expect(await all.find(1, { query: 'a'.repeat(1000), roots: [cwd], token: null })).toEqual([]);
});
