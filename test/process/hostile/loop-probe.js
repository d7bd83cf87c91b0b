// Loaded into the server before its own code (NODE_OPTIONS), to measure how long its main loop is
// blocked. Answers each line on a Unix socket with the longest stretches since the last line, in
// milliseconds: how long the main thread worked, and how long it slept in a call of the system. Not
// counted is the time in which it waits for a processor, or for the system to start a program: that
// depends on the other programs of the machine. `blockedMs` is both together, as measured, and also
// counts the start of programs: so long did it not answer. A processor that is slow, or that other
// programs share, makes all work longer. So the probe also times the same work before and after,
// and divides by how much longer that took than on a usual machine.
import { ChildProcess } from 'node:child_process';
import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const INTERVAL_MS = 4;

/**
 * What JSON.parse takes for this text on a usual machine that does nothing else, in milliseconds:
 * the least that was measured.
 */
const KNOWN_WORK_MS = 0.7;
const KNOWN_WORK_TIMES = 5;
const KNOWN_TEXT = JSON.stringify(
  Array.from({ length: 1000 }, (_, id) => ({
    id,
    name: `item ${id}`,
    text: 'abcdefghij'.repeat(10),
    list: [id, null],
  })),
);

const { HEDDLE_PROBE: path } = process.env;
delete process.env.NODE_OPTIONS;
delete process.env.HEDDLE_PROBE;

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

/** How much longer known work takes now than on a usual machine: 1 if it takes no longer. */
function slowness() {
  const took = Array.from({ length: KNOWN_WORK_TIMES }, () => {
    const before = times();
    JSON.parse(KNOWN_TEXT);
    return times().worked - before.worked;
  });
  took.sort((one, other) => one - other);
  return Math.max(1, took[Math.floor(KNOWN_WORK_TIMES / 2)] / KNOWN_WORK_MS);
}

/** Not before it is needed: another flag makes V8 refuse the cached code of the server. */
function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

let lastSlowness = slowness();
let last = times();
let longest = nothing();

function nothing() {
  return { workedMs: 0, sleptMs: 0, blockedMs: 0 };
}

function look() {
  const now = times();
  longest.workedMs = Math.max(longest.workedMs, now.worked - last.worked);
  longest.blockedMs = Math.max(
    longest.blockedMs,
    now.worked - last.worked + now.slept - last.slept - INTERVAL_MS,
  );
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
    const nowSlowness = slowness();
    const worst = Math.max(lastSlowness, nowSlowness);
    const report = { ...longest, workedMs: longest.workedMs / worst, slowness: worst };
    lastSlowness = nowSlowness;
    if (line.includes('collect')) collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    client.write(`${JSON.stringify({ ...report, heapBytes: heapUsed + external })}\n`);
    startAgain(times());
    longest = nothing();
  });
});
server.listen(path).unref();
