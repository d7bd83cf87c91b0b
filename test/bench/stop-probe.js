// Loaded into the server before its own code (NODE_OPTIONS), and into the thread of its store.
// Notes when a turn passes its stops: the server itself has no marks. Each line of the file has a
// time in nanoseconds of the system's monotonic clock, and what happened then.
import { subscribe } from 'node:diagnostics_channel';
import fs from 'node:fs';
import http from 'node:http';
import workerThreads from 'node:worker_threads';

const WRITE_MS = 100;
const { HEDDLE_STOPS: file } = process.env;
const { appendFileSync } = fs;
let lines = '';

function note(what) {
  lines += `${process.hrtime.bigint()} ${what}\n`;
}

function write() {
  if (lines !== '') appendFileSync(file, lines);
  lines = '';
}

/** Calls `before` with the arguments of each call of a method. */
function watch(object, method, before) {
  const own = object[method];
  object[method] = function (...args) {
    before.apply(this, args);
    return own.apply(this, args);
  };
}

/** What a call of the store does in a turn; null: something else. */
function workOf({ method, args }) {
  if (method !== 'append') return null;
  const [entries, { durable }] = args;
  if (entries.some(({ kind }) => kind === 'turnStarted')) return 'start';
  return durable ? 'end' : 'items';
}

function watchMain() {
  const known = new Map();
  const { Worker } = workerThreads;
  watch(Worker.prototype, 'postMessage', (calls) => {
    for (const call of Array.isArray(calls) ? calls : []) {
      const work = workOf(call);
      if (work === null) continue;
      known.set(call.id, work);
      note(`${work} posted`);
    }
  });
  const { on } = Worker.prototype;
  Worker.prototype.on = function (event, listener) {
    if (event !== 'message') return on.call(this, event, listener);
    return on.call(this, event, (reply) => {
      for (const { id } of reply.answers ?? []) if (known.has(id)) note(`${known.get(id)} stored`);
      listener(reply);
    });
  };
  watch(process.stdin, 'push', (chunk) => {
    if (chunk?.includes('"method":"turn/start"')) note('request read');
  });
  watch(process.stdout, 'write', (text) => {
    if (text.includes('"result":{"turn":{')) note('answer written');
    if (text.includes('{"method":"turn/completed"')) note('completed written');
  });
  watch(http.ClientRequest.prototype, 'end', () => note('model asked'));
  subscribe('http.client.response.finish', () => note('model answered'));
}

function watchThread() {
  const { parentPort } = workerThreads;
  const known = new Map();
  const { on } = parentPort;
  parentPort.on = function (event, listener) {
    if (event !== 'message') return on.call(this, event, listener);
    return on.call(this, event, (calls) => {
      for (const call of calls) {
        const work = workOf(call);
        if (work === null) continue;
        known.set(call.id, work);
        note(`${work} received`);
      }
      listener(calls);
    });
  };
  watch(parentPort, 'postMessage', ({ answers = [] }) => {
    for (const { id } of answers) if (known.has(id)) note(`${known.get(id)} answered`);
  });
  const { fdatasyncSync, fdatasync } = fs;
  fs.fdatasyncSync = (descriptor) => {
    note('flush begun');
    fdatasyncSync(descriptor);
    note('flushed');
  };
  fs.fdatasync = (descriptor, done) => {
    note('flush begun');
    fdatasync(descriptor, (...results) => {
      note('flushed');
      done(...results);
    });
  };
}

if (file !== undefined) {
  if (workerThreads.isMainThread) watchMain();
  else watchThread();
  setInterval(write, WRITE_MS).unref();
  process.on('exit', write);
}
