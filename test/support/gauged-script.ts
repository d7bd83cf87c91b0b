import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** A round of a thread's event loop that held it long. */
export interface LongRound {
  /** Processor time of the thread. */
  ms: number;
  /** The messages that came in this round, or in the one before it. */
  calls: string;
}

/**
 * Writes a script to `path` that runs another one in a thread, and measures each round of the
 * thread's event loop: what comes in meanwhile waits for its end. Processor time is measured,
 * because other programs make the time of the clock longer. Returns the rounds that took longer
 * than `longMs`.
 */
export function gaugedScript(
  path: string,
  script: string,
  { longMs }: { longMs: number },
): { longRounds(): LongRound[] } {
  const found = `${path}.rounds`;
  writeFileSync(
    path,
    `const { appendFileSync, openSync, readSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
const stat = openSync('/proc/thread-self/schedstat', 'r');
const bytes = Buffer.alloc(64);
const cpuMs = () => Number(bytes.toString('latin1', 0, readSync(stat, bytes, 0, 64, 0)).split(' ')[0]) / 1e6;
let calls = [];
let before = null;
const on = parentPort.on.bind(parentPort);
parentPort.on = (name, listener) =>
  on(name, name !== 'message' ? listener : (message) => {
    for (const call of message) calls.push(call.args?.[0]?.method ?? call.name);
    listener(message);
  });
require(${JSON.stringify(script)});
let ms = cpuMs();
const round = () => {
  const now = cpuMs();
  if (now - ms > ${longMs}) appendFileSync(${JSON.stringify(found)}, JSON.stringify({ ms: now - ms, calls: [before, ...calls].join(' ').trim() }) + '\\n');
  if (calls.length > 0) before = calls.at(-1);
  calls = [];
  ms = cpuMs();
  setImmediate(round).unref();
};
setImmediate(round);
`,
  );
  const lines = () => (existsSync(found) ? readFileSync(found, 'utf8').trim().split('\n') : []);
  return { longRounds: () => lines().map((line) => JSON.parse(line) as LongRound) };
}
