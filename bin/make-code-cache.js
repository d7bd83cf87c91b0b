// Runs the server, or with a folder as its argument the thread of the store, and keeps the code that V8 has compiled by the end.
// bin/build.js sends the server a short session.
const { renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { isMainThread, parentPort, Worker } = require('node:worker_threads');
const { load, loaded, loadMain } = require('./load-main.js');

const [, , folder] = process.argv;

/** The work of the store for the first requests of most clients. */
const list = { direction: 'desc', limit: 1, archived: false, sortKey: 'createdAt', searchTerm: null };
const filters = { modelProviders: null, cwds: null, sources: null, originators: null, excludedIds: null };
const CALLS = [
  { id: 1, handle: 0, method: 'listThreads', args: [{ ...list, ...filters }], nowMs: 0 },
  { id: 2, handle: 0, method: 'getThread', args: [''], nowMs: 0 },
  { id: 3, handle: 0, method: 'close', args: [], nowMs: 0 },
];

function save() {
  for (const { script, codeCache } of loaded.values()) {
    const temporary = `${codeCache}.${process.pid}`;
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, codeCache);
  }
}

function runStore() {
  const { postMessage } = parentPort;
  parentPort.postMessage = (reply) => {
    if (reply.answers?.some(({ id }) => id === CALLS.length)) process.exit();
    postMessage.call(parentPort, reply);
  };
  load('store-worker.cjs');
}

if (isMainThread && folder !== undefined) {
  const workerData = {
    file: join(folder, 'heddle.db'),
    migrationsDir: join(__dirname, '..', 'migrations'),
    tempDir: folder,
    pid: process.pid,
  };
  new Worker(__filename, { workerData, argv: [] }).postMessage(CALLS);
} else {
  process.on('exit', save);
  if (isMainThread) loadMain();
  else runStore();
}
