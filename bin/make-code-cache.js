// Runs the server, and in it the worker of the store, and keeps the code that V8 has compiled by
// the end. bin/run-session.js is the client.
const { renameSync, writeFileSync } = require('node:fs');
const threads = require('node:worker_threads');
const { load, loaded, loadMain } = require('./load-main.js');

function save() {
  for (const { script, codeCache } of loaded.values()) {
    const temporary = `${codeCache}.${process.pid}`;
    writeFileSync(temporary, script.createCachedData());
    renameSync(temporary, codeCache);
  }
}

function runMain() {
  const { Worker } = threads;
  // The server starts its workers with this script.
  threads.Worker = class extends Worker {
    constructor(_script, options) {
      super(__filename, options);
    }
  };
  process.on('exit', save);
  loadMain();
}

function runWorker() {
  const { parentPort } = threads;
  const { postMessage } = parentPort;
  // The server ends a worker after its last answer, without an event.
  parentPort.postMessage = (messages) => {
    save();
    postMessage.call(parentPort, messages);
  };
  load(`${process.argv[2]}.cjs`);
}

if (threads.isMainThread) runMain();
else runWorker();
