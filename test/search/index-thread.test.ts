import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { IndexThread } from '../../src/search/worker/index-thread.ts';
import { tempFolder } from '../config/temp-folder.ts';

/** A thread that finds nothing, and ends in the way that the query names. */
const SCRIPT = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ type, id, query }) => {
  if (type !== 'rank') return;
  if (query === 'exit') process.exit(0);
  if (query === 'throw') throw new Error('broken');
  parentPort.postMessage({ id, matches: [] });
});`;

test.each([
  ['exit', 'the thread that ranks paths has died: it ended with status 0'],
  ['throw', 'the thread that ranks paths has died: broken'],
])(
  'a thread that ends by %s ends all waits, and the next index has another thread',
  async (how, problem) => {
    const script = join(tempFolder({ 'worker.cjs': SCRIPT }), 'worker.cjs');
    const thread = new IndexThread(script);
    onTestFinished(() => thread.close());
    const [dying, other] = [thread.open(['/a']), thread.open(['/b'])];
    const waits = await Promise.allSettled([dying.rank(how), other.rank('x'), dying.rank('x')]);
    expect(
      waits.map((wait) =>
        wait.status === 'rejected' ? (wait.reason as Error).message : 'answered',
      ),
    ).toEqual([problem, problem, problem]);
    await expect(other.rank('x')).rejects.toThrow('has ended');
    expect(await thread.open(['/a']).rank('x')).toEqual([]);
  },
);
