import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { IndexWorker } from '../../src/search/worker/index-worker.ts';
import { tempFolder } from '../config/temp-folder.ts';

/** A thread that finds nothing, and ends in the way that the query names. */
const SCRIPT = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ([{ call, name, args: [, query] }]) => {
  if (name !== 'rank') return;
  if (query === 'exit') process.exit(0);
  if (query === 'throw') throw new Error('broken');
  parentPort.postMessage([{ answered: call, value: [] }]);
});`;

test.each([
  ['exit', 'the worker that ranks paths has died (it ended with status 0)'],
  ['throw', 'the worker that ranks paths has died (broken)'],
])(
  'a thread that ends by %s ends all waits, and the next index has another thread',
  async (how, problem) => {
    const script = join(tempFolder({ 'worker.cjs': SCRIPT }), 'worker.cjs');
    const thread = new IndexWorker(script);
    onTestFinished(() => thread.close());
    const [dying, other] = [thread.open(['/a']), thread.open(['/b'])];
    const waits = await Promise.allSettled([dying.rank(how), other.rank('x'), dying.rank('x')]);
    expect(
      waits.map((wait) =>
        wait.status === 'rejected' ? (wait.reason as Error).message : 'answered',
      ),
    ).toEqual([problem, problem, problem]);
    await expect(other.rank('x')).rejects.toThrow('has died');
    expect(await thread.open(['/a']).rank('x')).toEqual([]);
  },
);
