// Loaded into the server before its own code (NODE_OPTIONS), to measure how long its main loop is blocked. Answers each line on a
// Unix socket with the longest stretches since the last line, in milliseconds: how long the main thread worked, and how long it
// slept in a call of the system. Not counted is the time in which it waits for a processor, or for the system to start a program:
// that depends on the other programs of the machine.
import { ChildProcess } from 'node:child_process';
import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 4;

const { HEDDLE_PROBE: path } = process.env;
delete process.env.NODE_OPTIONS;
delete process.env.HEDDLE_PROBE;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const buffer = Buffer.alloc(128);

/** The time, and for how much of it the main thread has worked and has slept, in milliseconds. */
function times() {
  // Linux brings the figures of the running thread up to date for this call.
  process.cpuUsage();
  const length = readSync(schedule, buffer, 0, buffer.length, 0);
  const [worked, waited] = buffer
    .latin1Slice(0, length)
    .split(' ')
    .map((nanoseconds) => Number(nanoseconds) / 1e6);
  return { worked, slept: performance.now() - worked - waited };
}

let startingMs = 0;
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (...options) {
  const before = times();
  try {
    return spawn.apply(this, options);
  } finally {
    startingMs += times().slept - before.slept;
  }
};

let last = times();
let longest = { workedMs: 0, sleptMs: 0 };

function look() {
  const now = times();
  longest.workedMs = Math.max(longest.workedMs, now.worked - last.worked);
  longest.sleptMs = Math.max(longest.sleptMs, now.slept - last.slept - startingMs - INTERVAL_MS);
  startAgain(now);
}

function startAgain(now) {
  last = now;
  startingMs = 0;
}

setInterval(look, INTERVAL_MS).unref();

const server = createServer((client) => {
  client.unref();
  client.on('error', () => {});
  client.on('data', (line) => {
    look();
    const report = longest;
    if (line.includes('collect')) collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    client.write(`${JSON.stringify({ ...report, heapBytes: heapUsed + external })}\n`);
    startAgain(times());
    longest = { workedMs: 0, sleptMs: 0 };
  });
});
server.listen(path).unref();
