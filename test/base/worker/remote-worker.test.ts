import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { localRemote, type MainThread, type Remote } from '../../../src/base/worker/remote.ts';
import { RemoteWorker } from '../../../src/base/worker/remote-worker.ts';
import { tempFolder } from '../../config/temp-folder.ts';
import { builtScript } from '../../support/built-script.ts';
import { RecordingLog } from '../../support/recording-log.ts';
import { type Asked, REFUSED, Refused, type Sample, sampleOf } from './sample-worker.ts';

const SCRIPT = builtScript('test/base/worker/sample-worker.ts');

/** What the main thread is asked, and told. */
class Main implements Asked {
  readonly told: string[] = [];
  aborted: string[] = [];

  tell(text: string): void {
    this.told.push(text);
  }

  async double(number: number): Promise<number> {
    if (number < 0) throw new Refused('it is negative', 'sign');
    return 2 * number;
  }

  waits(name: string, signal: AbortSignal): Promise<string> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        this.aborted.push(name);
        resolve('given up');
      });
    });
  }
}

interface Form {
  main: Main;
  log: RecordingLog;
  sample: Remote<Sample>;
}

function inThisThread(): Form {
  const [main, log] = [new Main(), new RecordingLog()];
  const side: MainThread<Asked> = { ...localRemote<Asked>(main, REFUSED), log };
  return { main, log, sample: localRemote<Sample>(sampleOf(side, 'data'), REFUSED) };
}

function worker(script = SCRIPT, joins = false, died: Error[] = []) {
  const [main, log] = [new Main(), new RecordingLog()];
  const remote = new RemoteWorker<Sample, Asked>({
    script,
    name: joins ? 'joins' : 'sample',
    called: 'the worker of the test',
    heapMbMax: 16,
    data: () => 'data',
    served: main,
    knownErrors: REFUSED,
    joins,
    log,
    onDied: (reason) => void died.push(reason),
  });
  onTestFinished(() => remote.close());
  return { main, log, remote };
}

function inWorker(joins: boolean): Form {
  const { main, log, remote } = worker(SCRIPT, joins);
  return { main, log, sample: remote.remote };
}

describe.each<[string, () => Form]>([
  ['this thread', inThisThread],
  ['a worker', () => inWorker(false)],
  ['a worker whose messages of one moment are joined', () => inWorker(true)],
])('an object in %s', (_form, start) => {
  test('gives the results of its methods in the order of the calls', async () => {
    const { sample } = start();
    const results = Array.from({ length: 50 }, (_, index) => sample.call('echo', [{ index }]));
    expect(await Promise.all(results)).toEqual(
      Array.from({ length: 50 }, (_, index) => ({ index, data: 'data' })),
    );
  });

  test('gives no result before the caller goes on', async () => {
    const { sample } = start();
    const order: string[] = [];
    const echoed = sample.call('echo', [{ index: 1 }]).then(() => order.push('result'));
    order.push('went on');
    await echoed;
    expect(order).toEqual(['went on', 'result']);
  });

  test('keeps the class of errors that the room knows, and the message and cause of others', async () => {
    const { sample } = start();
    const refused = await sample.call('refuse', ['no']).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Refused);
    expect(refused).toMatchObject({ message: 'refused', why: 'no' });
    await expect(sample.call('break', [])).rejects.toMatchObject({
      message: 'broken',
      code: 'ENOSPC',
      cause: { message: 'the disk' },
      stack: expect.stringContaining('sample-worker'),
    });
  });

  test('calls and tells the main thread, whose errors keep their class', async () => {
    const { main, sample } = start();
    expect(await sample.call('ask', [21])).toBe(42);
    expect(await sample.call('ask', [-1])).toBe('Refused: it is negative (sign)');
    sample.tell('say', 'first');
    sample.tell('say', 'second');
    await sample.call('echo', [{ index: 0 }]);
    expect(main.told).toEqual(['first', 'second']);
  });

  test('hears that a call is cancelled, and so does the main thread; one that is cancelled before is not made', async () => {
    const { main, sample } = start();
    const cancelled = new AbortController();
    const waiting = sample.call('waits', ['mine'], cancelled.signal);
    const other = sample.call('waitsForMain', ['other'], cancelled.signal);
    await sample.call('echo', [{ index: 0 }]);
    cancelled.abort();
    expect(await Promise.all([waiting, other])).toEqual(['mine: given up', 'given up']);
    expect(main.aborted).toEqual(['other']);
    await expect(sample.call('tellMain', ['late'], cancelled.signal)).rejects.toMatchObject({
      name: 'AbortError',
    });
    await sample.call('echo', [{ index: 0 }]);
    expect(main.told).toEqual([]);
  });

  test('writes lines of the log, with their errors', async () => {
    const { log, sample } = start();
    await sample.call('log', []);
    expect(log.lines).toEqual([
      { level: 'info', fields: {}, text: 'plain' },
      {
        level: 'warn',
        fields: { err: expect.objectContaining({ message: 'noted' }), count: 1 },
        text: 'with fields',
      },
    ]);
  });
});

test.each([false, true])(
  'a value that is not data fails its call alone (joined: %s)',
  async (joins) => {
    const { sample } = inWorker(joins);
    const [before, wrong, after] = await Promise.allSettled([
      sample.call('echo', [{ index: 1 }]),
      sample.call('echo', [{ index: (() => {}) as unknown as number }]),
      sample.call('echo', [{ index: 2 }]),
    ]);
    expect([before.status, after.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(wrong).toMatchObject({
      reason: { message: expect.stringContaining('could not be cloned') },
    });
    await expect(sample.call('giveFunction', [])).rejects.toThrow('could not be cloned');
    expect(await sample.call('echo', [{ index: 3 }])).toEqual({ index: 3, data: 'data' });
  },
);

test.each([
  ['an error', 'throw new Error("broken");', 'broken'],
  ['a thrown value', 'throw "text";', 'text'],
  ['a rejection', 'Promise.reject(new Error("rejected"));', 'rejected'],
  ['process.exit(0)', 'process.exit(0);', 'it ended with status 0'],
  ['process.exit(3)', 'process.exit(3);', 'it ended with status 3'],
  ['nothing left to do', '', 'it ended with status 0'],
  ['no memory', 'const all = []; for (;;) all.push(new Array(1e5).fill({}));', 'memory limit'],
])(
  'the end of a worker by %s is told once, and its calls reject',
  { timeout: 30_000 },
  async (_what, end, reason) => {
    const died: Error[] = [];
    const { remote } = worker(join(tempFolder({ 'script.cjs': end }), 'script.cjs'), false, died);
    const { remote: lost } = remote;
    const calls = await Promise.allSettled([
      lost.call('echo', [{ index: 1 }]),
      lost.call('ask', [1]),
    ]);
    for (const call of calls)
      expect(call).toMatchObject({
        reason: {
          message: expect.stringMatching(/^the worker of the test has died \(.*\)$/s),
        },
      });
    expect(died).toHaveLength(1);
    expect(died[0]?.message).toContain(reason);
    await expect(lost.call('echo', [{ index: 1 }])).rejects.toThrow('has died');
    expect(remote.isRunning).toBe(false);
  },
);

test.each([false, true])(
  'what a worker tells and logs before its death arrives (joined: %s)',
  async (joins) => {
    const { main, log, remote } = worker(SCRIPT, joins);
    await expect(remote.remote.call('tellAndExit', ['last words'])).rejects.toThrow('has died');
    expect(main.told).toEqual(['last words']);
    expect(log.lines.map(({ text }) => text)).toEqual(['last words']);
  },
);

test.each([false, true])(
  'a log line that is not data fails its call alone (joined: %s)',
  async (joins) => {
    const { log, sample } = inWorker(joins);
    const [wrong, right] = await Promise.allSettled([
      sample.call('logFunction', []),
      sample.call('echo', [{ index: 1 }]),
    ]);
    expect(wrong).toMatchObject({
      reason: { message: expect.stringContaining('could not be cloned') },
    });
    expect(right.status).toBe('fulfilled');
    expect(log.lines).toEqual([]);
  },
);

test('after a death the next use has another worker, and the calls that the dead one made are aborted', async () => {
  const died: Error[] = [];
  const { main, remote } = worker(SCRIPT, false, died);
  const first = remote.remote;
  const waiting = first.call('waitsForMain', ['lost']);
  await first.call('echo', [{ index: 0 }]);
  first.tell('exit');
  await expect(waiting).rejects.toThrow('has died');
  expect(main.aborted).toEqual(['lost']);
  first.tell('say', 'nobody');
  expect(await remote.remote.call('echo', [{ index: 7 }])).toEqual({ index: 7, data: 'data' });
  expect([main.told, died.length]).toEqual([[], 1]);
});

test('a worker that is closed rejects its calls, and does not count as dead', async () => {
  const died: Error[] = [];
  const { remote } = worker(SCRIPT, false, died);
  const waiting = remote.remote.call('waits', ['for ever']);
  const closed = remote.close();
  await expect(waiting).rejects.toThrow('the worker of the test has ended');
  await closed;
  expect(died).toEqual([]);
});

test('a script that is missing is the reason', async () => {
  const { remote } = worker('/missing.cjs');
  await expect(remote.remote.call('echo', [{ index: 1 }])).rejects.toThrow('missing.cjs');
});
