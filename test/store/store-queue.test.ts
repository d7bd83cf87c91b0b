import { expect, test } from 'vitest';
import { type JoinedWrite, StoreQueue } from '../../src/store/sqlite/store-queue.ts';
import { FakeClock } from '../support/fake-clock.ts';

const busy = () => Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });

/** A queue whose transactions the test sees. While `isLocked`, another process holds the lock. */
class QueueUnderTest {
  readonly clock = new FakeClock();
  readonly done: string[] = [];
  isLocked = false;
  readonly queue = new StoreQueue({
    clock: this.clock,
    commit: (writes) => {
      if (this.isLocked) return writes.map(busy);
      this.done.push(writes.map(({ key }) => key).join('+'));
      const errors = writes.map(({ run }) => errorOf(run));
      for (const [index, { committed }] of writes.entries())
        if (errors[index] === null) committed();
      return errors;
    },
    lockedFor: (ms) => new Error(`locked for ${ms} ms`),
  });

  join(key: string, run = () => {}): Promise<void> {
    return this.queue.join({
      key,
      run,
      committed: () => this.done.push(`${key} committed`),
    } satisfies JoinedWrite);
  }

  write(name: string): Promise<string> {
    return this.queue.write(() => {
      if (this.isLocked) throw busy();
      this.done.push(name);
      return name;
    });
  }

  read(name: string): Promise<number> {
    return this.queue.read(() => this.done.push(name));
  }
}

function errorOf(run: () => void): unknown {
  try {
    run();
    return null;
  } catch (error) {
    return error;
  }
}

test('writes of one moment share a transaction, except two of one key; other writes have their own, in their order', async () => {
  const under = new QueueUnderTest();
  await Promise.all([
    under.join('a'),
    under.join('b'),
    under.write('apart'),
    under.join('c'),
    under.join('d'),
    under.join('c'),
  ]);
  const committed = (...keys: string[]) => keys.map((key) => `${key} committed`);
  expect(under.done).toEqual([
    'a+b',
    ...committed('a', 'b'),
    'apart',
    'c+d',
    ...committed('c', 'd'),
    'c',
    ...committed('c'),
  ]);
});

test('reads of the same moment come after the writes', async () => {
  const under = new QueueUnderTest();
  await Promise.all([under.read('read'), under.write('first'), under.join('a')]);
  expect(under.done).toEqual(['first', 'a', 'a committed', 'read']);
});

test('while another process holds the lock, reads go on; the writes are attempted again and keep their order', async () => {
  const under = new QueueUnderTest();
  under.isLocked = true;
  const writes = [under.join('a'), under.write('apart'), under.join('b')];
  await under.read('read 1');
  under.clock.advance(1_000);
  const later = under.join('c');
  await under.read('read 2');
  expect(under.done).toEqual(['read 1', 'read 2']);
  under.isLocked = false;
  under.clock.advance(100);
  await Promise.all([...writes, later]);
  expect(under.done.slice(2)).toEqual([
    'a',
    'a committed',
    'apart',
    'b+c',
    'b committed',
    'c committed',
  ]);
});

test('a write that another process prevents for a minute fails, and says so; the next one waits its own minute', async () => {
  const under = new QueueUnderTest();
  under.isLocked = true;
  const first = under.join('a').catch((error: unknown) => error);
  await under.read('turn');
  under.clock.advance(30_000);
  const second = under.write('second');
  await under.read('turn');
  under.clock.advance(30_100);
  expect(await first).toMatchObject({ message: expect.stringMatching(/^locked for 60\d\d\d ms$/) });
  under.isLocked = false;
  under.clock.advance(100);
  expect(await second).toBe('second');
});

test('a caller that reads again and again lets writes and other readers go first', async () => {
  const under = new QueueUnderTest();
  const readAll = async () => {
    for (let part = 1; part <= 3; part++) {
      await under.queue.read(() => {
        under.done.push(`part ${part}`);
        // So long that the other calls have to have their turn.
        under.clock.advance(10);
      });
      if (part === 1) void under.join('a');
    }
  };
  await Promise.all([readAll(), under.read('other'), under.read('another')]);
  expect(under.done).toEqual([
    'part 1',
    'a',
    'a committed',
    'other',
    'another',
    'part 2',
    'part 3',
  ]);
});

test('closing attempts what waits a last time, and rejects what another process prevents', async () => {
  const under = new QueueUnderTest();
  const free = under.write('free');
  under.queue.close();
  expect(await free).toBe('free');
  under.isLocked = true;
  const prevented = under.join('a').catch((error: unknown) => error);
  under.queue.close();
  expect(await prevented).toEqual(new Error('locked for 0 ms'));
});
