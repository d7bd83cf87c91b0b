import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const SQLITE = createRequire(import.meta.url).resolve('better-sqlite3');

/** Random ends of a thread. */
interface Ends {
  seed: number;
  /** How many threads of the script end. Those after them do not. */
  count: number;
  /** The most messages of a thread, in both directions, before its end. */
  messagesMax: number;
  /**
   * By default at a message; or at a transaction of SQLite, just before or after its commit, or at
   * a flush, just before or after it.
   */
  moment?: 'message' | 'commit' | 'flush';
  /** The argument of the threads that end. By default all do. */
  worker?: string;
}

/**
 * Writes a script to `path` that runs another one in a thread, and ends it at a random moment:
 * before or after a message is received, or before or after one is sent, at once or after other
 * work of that moment, with or without an error; or around a commit or a flush. Returns how many
 * have ended.
 */
export function mortalScript(
  path: string,
  script: string,
  { seed, count, messagesMax, moment = 'message', worker }: Ends,
): { ended(): number } {
  const counter = `${path}.ends`;
  writeFileSync(counter, '0');
  writeFileSync(
    path,
    `const { readFileSync, writeFileSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
const number = Number(readFileSync(${JSON.stringify(counter)}, 'utf8'));
let state = (${seed} * 1000 + number) >>> 0;
function below(most) {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
}
if (number < ${count} && ${worker === undefined || `process.argv[2] === ${JSON.stringify(worker)}`}) {
  const end = () => {
    writeFileSync(${JSON.stringify(counter)}, String(number + 1));
    // Later, where nothing catches it.
    if (below(3) === 0) setImmediate(() => { throw new Error('ended by the test'); });
    else process.exit(below(2));
  };
  const when = [(work) => work(), (work) => queueMicrotask(work), (work) => setImmediate(work)][below(3)];
  let left = 1 + below(${messagesMax});
  const event = () => {
    left--;
    if (left === 0) when(end);
  };
  const around = (work) => (...args) => {
    event();
    const value = work(...args);
    event();
    return value;
  };
  if (${moment === 'commit'}) {
    const { prototype } = require(${JSON.stringify(SQLITE)});
    const { transaction } = prototype;
    prototype.transaction = function (work) {
      const before = (...args) => {
        const value = work(...args);
        event();
        return value;
      };
      const made = transaction.call(this, before);
      const after = (run) => (...args) => {
        const value = run(...args);
        event();
        return value;
      };
      return Object.assign(after(made), { deferred: after(made.deferred), immediate: after(made.immediate), exclusive: after(made.exclusive) });
    };
  }
  if (${moment === 'flush'}) {
    const fs = require('node:fs');
    const { fdatasync, fdatasyncSync } = fs;
    fs.fdatasync = (descriptor, done) => {
      event();
      fdatasync(descriptor, (error) => {
        event();
        done(error);
      });
    };
    fs.fdatasyncSync = around(fdatasyncSync);
  }
  if (${moment === 'message'}) {
  const post = parentPort.postMessage.bind(parentPort);
  parentPort.postMessage = (...message) => {
    event();
    post(...message);
    event();
  };
  const on = parentPort.on.bind(parentPort);
  parentPort.on = (name, listener) =>
    on(name, name !== 'message' ? listener : (message) => {
      event();
      listener(message);
      event();
    });
  }
}
require(${JSON.stringify(script)});
`,
  );
  return { ended: () => Number(readFileSync(counter, 'utf8')) };
}

/** How many ends of each worker a test makes: HEDDLE_WORKER_ENDS, or by default this many. */
export function workerEnds(byDefault: number): number {
  return Number(process.env.HEDDLE_WORKER_ENDS ?? byDefault);
}
