// @module-tag slow
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { builtScript } from '../support/built-script.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { idOf, threadRecord } from './samples.ts';
import { type WorkerHome, workerHome } from './worker-home.ts';

const SCRIPT = 'src/store/sqlite/worker/store.worker.ts';

/** A script of a store whose first threads cannot start. */
function failingScript(home: WorkerHome, failures: number): string {
  const counter = join(home.folder, 'starts');
  writeFileSync(counter, '0');
  const script = join(home.folder, 'failing.cjs');
  writeFileSync(
    script,
    `const { readFileSync, writeFileSync } = require('node:fs');
const starts = Number(readFileSync(${JSON.stringify(counter)}, 'utf8')) + 1;
writeFileSync(${JSON.stringify(counter)}, String(starts));
if (starts <= ${failures}) throw new Error('too many open files');
require(${JSON.stringify(builtScript(SCRIPT))});`,
  );
  return script;
}

test('what the system lacks for some starts is waited for: no call is refused', async () => {
  const home = workerHome();
  const log = new RecordingLog();
  const store = home.open(undefined, { script: failingScript(home, 4), log });
  const threads = [1, 2, 3].map((number) => store.createThread(threadRecord(number)));
  expect((await Promise.all(threads)).map(({ threadId }) => threadId)).toEqual([1, 2, 3].map(idOf));
  expect(log.errors()).toHaveLength(4);
});

test('if the thread cannot start at all, each call that waits is refused with the reason and the remedy, and a later one tries again', async () => {
  const home = workerHome();
  const log = new RecordingLog();
  const store = home.open(undefined, { script: failingScript(home, 6), log });
  const refused = {
    code: 'store_failed',
    message: `${home.file} cannot be used: the worker of the store cannot start (too many open files). If memory or file descriptors are used up, end other programs, or restart heddle.`,
  };
  const calls = Array.from({ length: 40 }, (_, number) => store.getThread(idOf(number)));
  for (const call of await Promise.allSettled(calls))
    expect(call).toMatchObject({ status: 'rejected', reason: refused });
  expect(log.errors()).toHaveLength(5);
  await expect(store.getThread(idOf(1))).rejects.toMatchObject(refused);
  expect(await store.getThread(idOf(1))).toBeNull();
});

test('a worker that was ready and dies is waited for, also if the system refuses the next ones', async () => {
  const home = workerHome();
  const log = new RecordingLog();
  const script = join(home.folder, 'mortal.cjs');
  const died = join(home.folder, 'died');
  writeFileSync(
    script,
    `const { existsSync, writeFileSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
const on = parentPort.on.bind(parentPort);
parentPort.on = (name, listener) => on(name, (message) => {
  if (!existsSync(${JSON.stringify(died)}) && message.some(({ args }) => args?.[0]?.method === 'getMetadata')) {
    writeFileSync(${JSON.stringify(died)}, '');
    process.exit(1);
  }
  listener(message);
});
require(${JSON.stringify(builtScript(SCRIPT))});`,
  );
  let starts = 0;
  const nodeVersions = {
    ...process.versions,
    // Read for each start. The constructor of the worker throws if it gets a function.
    get probe() {
      starts++;
      return starts > 1 && starts < 6 ? () => {} : '';
    },
  } as unknown as NodeJS.ProcessVersions;
  const store = home.open(undefined, { script, nodeVersions, log });
  await store.createThread(threadRecord(1));
  const calls = [
    store.getMetadata(idOf(1)),
    store.getThread(idOf(1)),
    store.updateThread(idOf(1), { name: 'named' }),
  ];
  expect(await Promise.all(calls)).toMatchObject([
    { name: null },
    { id: idOf(1) },
    { name: 'named' },
  ]);
  expect(starts).toBe(6);
  // The end of the first one, and four that the system refused.
  expect(log.errors()).toHaveLength(5);
});

test('a thread that hangs is told, once, with the remedy, and that it answers again; one that only waits is not', async () => {
  const home = workerHome();
  const waitClock = new FakeClock();
  const told: string[] = [];
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const script = join(home.folder, 'hanging.cjs');
  // It hangs when it is asked for a thread, until the gate opens.
  writeFileSync(
    script,
    `const { parentPort, workerData } = require('node:worker_threads');
const gate = workerData.nodeVersions.gate;
const on = parentPort.on.bind(parentPort);
parentPort.on = (name, listener) => on(name, (message) => {
  if (message.some(({ args }) => args?.[0]?.method === 'getMetadata')) Atomics.wait(gate, 0, 0);
  listener(message);
});
require(${JSON.stringify(builtScript(SCRIPT))});`,
  );
  const nodeVersions = { ...process.versions, gate } as unknown as NodeJS.ProcessVersions;
  const store = home.open(undefined, {
    script,
    waitClock,
    nodeVersions,
    log: new RecordingLog(),
    onSilent: (message) => told.push(message),
  });
  await store.createThread(threadRecord(1));
  const call = store.getMetadata(idOf(1));
  // The call is sent.
  await nextRound();
  for (let seconds = 0; seconds < 60; seconds += 5) waitClock.advance(5_000);
  const silent = `${home.file} has not answered for 20 s: threads wait for it. Check whether its disk or network file system responds. If it does and this does not end, restart heddle.`;
  expect(told).toEqual([silent]);
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  expect(await call).toMatchObject({ name: null });
  const back = expect.stringMatching(
    /heddle\.db could not be used for \d\d s\. It can be used again\.$/,
  );
  expect(told).toEqual([silent, back]);
  for (let seconds = 0; seconds < 60; seconds += 5) waitClock.advance(5_000);
  expect(told).toHaveLength(2);
});

test('if the thread that hangs dies, clients are told that the next one answers, when it does', async () => {
  const home = workerHome();
  const waitClock = new FakeClock();
  const told: string[] = [];
  const gate = new Int32Array(new SharedArrayBuffer(8));
  const script = join(home.folder, 'hanging.cjs');
  // The first thread hangs when it is asked for a thread, and ends when the gate opens.
  writeFileSync(
    script,
    `const { parentPort, workerData } = require('node:worker_threads');
const gate = workerData.nodeVersions.gate;
const on = parentPort.on.bind(parentPort);
parentPort.on = (name, listener) => on(name, (message) => {
  if (Atomics.load(gate, 0) === 0 && message.some(({ args }) => args?.[0]?.method === 'getMetadata')) {
    Atomics.store(gate, 1, 1);
    Atomics.wait(gate, 0, 0);
    process.exit(1);
  }
  listener(message);
});
require(${JSON.stringify(builtScript(SCRIPT))});`,
  );
  const nodeVersions = { ...process.versions, gate } as unknown as NodeJS.ProcessVersions;
  const store = home.open(undefined, {
    script,
    waitClock,
    nodeVersions,
    log: new RecordingLog(),
    onSilent: (message) => told.push(message),
  });
  await store.createThread(threadRecord(1));
  const call = store.getMetadata(idOf(1));
  await expect.poll(() => Atomics.load(gate, 1), { interval: 1 }).toBe(1);
  for (let seconds = 0; seconds < 40; seconds += 5) waitClock.advance(5_000);
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  expect(await call).toMatchObject({ name: null });
  expect(told).toEqual([
    expect.stringContaining('has not answered for 20 s'),
    `${home.file} could not be used for 40 s. It can be used again.`,
  ]);
});
