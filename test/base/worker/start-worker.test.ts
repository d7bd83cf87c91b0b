import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startWorker } from '../../../src/base/worker/start-worker.ts';
import { tempFolder } from '../../config/temp-folder.ts';

const BEGIN =
  "const { parentPort, workerData } = require('node:worker_threads'); parentPort.postMessage(workerData);";

/** Runs a script in a thread, and returns what it sent and why it ended. */
async function run(
  script: string,
  after: (worker: ReturnType<typeof startWorker>) => unknown = () => {},
) {
  const messages: unknown[] = [];
  const path = join(tempFolder({ 'script.cjs': script }), 'script.cjs');
  const reason = await new Promise<Error>((resolve) => {
    const worker = startWorker<unknown>({
      script: path,
      heapMbMax: 16,
      data: 'first',
      onMessage(message) {
        messages.push(message);
        after(worker);
      },
      onEnd: resolve,
    });
    worker.ref();
  });
  return { messages, reason };
}

test.each([
  ['an error', 'throw new Error("broken");', 'broken'],
  ['a thrown value', 'throw "text";', 'text'],
  ['a rejection', 'Promise.reject(new Error("rejected"));', 'rejected'],
  ['process.exit(0)', 'process.exit(0);', 'it ended with status 0'],
  ['process.exit(3)', 'process.exit(3);', 'it ended with status 3'],
  ['nothing left to do', '', 'it ended with status 0'],
  ['no memory', 'const all = []; for (;;) all.push(new Array(1e5).fill({}));', 'memory limit'],
])(
  'the end of a thread by %s is told once, after its messages',
  { timeout: 30_000 },
  async (_what, end, reason) => {
    const ended = await run(BEGIN + end);
    expect(ended.messages).toEqual(['first']);
    expect(ended.reason.message).toContain(reason);
  },
);

test('the end of a thread that is terminated is told', async () => {
  const ended = await run(`${BEGIN} parentPort.on('message', () => {});`, (worker) =>
    worker.terminate(),
  );
  expect(ended.reason.message).toBe('it ended with status 1');
});

test('a script that is missing is the reason', async () => {
  const reason = await new Promise<Error>((resolve) => {
    startWorker({
      script: '/missing.cjs',
      heapMbMax: 16,
      onMessage: () => {},
      onEnd: resolve,
    }).ref();
  });
  expect(reason.message).toContain('missing.cjs');
});
