import { systemClock } from '../../src/base/clock.ts';
import { createSqliteStore } from '../../src/store/sqlite/create-sqlite-store.ts';
import { StoreError } from '../../src/store/store-error.ts';
import type { ThreadRecord } from '../../src/store/thread-record.ts';
import {
  agentMessage,
  command,
  everyThread,
  idOf,
  itemEntry,
  storedItem,
  threadRecord,
  turnEntries,
  turnStarted,
  turnsWithItems,
  userMessage,
} from './samples.ts';

/*
 * A process with a store of its own, for the tests of several processes:
 * `store-child.ts FILE MIGRATIONS JOB NUMBER`. It writes a line after each step, and then waits
 * until it is killed or its input ends.
 */
const [file = '', migrationsDir = '', job, number = '1'] = process.argv.slice(2);
const ignore = () => {};
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
const onRepaired = () => say('repaired');
const store = createSqliteStore({
  file,
  migrationsDir,
  tempDir: '/nowhere',
  clock: systemClock,
  log,
  pid: process.pid,
  nodeVersions: process.versions,
  onRepaired,
});
const say = (line: string) => process.stdout.write(`${line}\n`);

process.stdin.resume();
process.stdin.on('end', () => void store.close());

switch (job) {
  case 'turn': {
    const writer = await store.createThread(threadRecord(1), turnEntries('t1'));
    await writer.append([turnStarted('t2'), itemEntry('t2', userMessage('u'))]);
    await writer.append([], { partials: [storedItem('t2', command('c', 'inProgress'))] });
    await writer.append([], { partials: [storedItem('t2', agentMessage('a', 'half'))] });
    say('ready');
    break;
  }
  case 'appends': {
    const writer = await store.createThread(threadRecord(1), [turnStarted('t1')]);
    for (let item = 1; ; item++) {
      await writer.append([
        itemEntry('t1', agentMessage(`a${item}`, 'x'.repeat((item * 997) % 20_000))),
      ]);
      say(`${item}`);
      // So that the line is written before the next one.
      await new Promise((resolve) => process.stdout.write('', resolve));
    }
  }
  case 'threads':
    for (let index = 0; index < 20; index++) {
      const writer = await store.createThread(
        threadRecord(Number(number) + index),
        turnEntries('t1'),
      );
      await writer.append(turnEntries('t2'), { durable: index % 5 === 0 });
      await writer.close();
    }
    say('ready');
    break;
  case 'goes on': {
    const thread = Number(number);
    const writer = await store.createThread(threadRecord(thread), turnEntries('t1'));
    say('ready');
    let turn = 2;
    process.stdin.on('data', () => {
      writer
        .append(turnEntries(`t${turn++}`))
        .then(() => store.listThreads(everyThread))
        .then(() => 'appended', String)
        .then(say, ignore);
    });
    break;
  }
  case 'deletes': {
    const entries = Array.from({ length: 200 }, (_, index) => turnEntries(`t${index}`)).flat();
    const writer = await store.createThread(threadRecord(1), [
      turnStarted('t'),
      itemEntry('t', agentMessage('long', 'x'.repeat(20_000))),
      ...entries,
    ]);
    await writer.append([turnStarted('last')]);
    await writer.append([], { partials: [storedItem('last', agentMessage('half'))] });
    await store.forkThread(idOf(1), null, threadRecord(2, { ephemeral: true, path: null }));
    await store.createThread(threadRecord(3), turnEntries('t1'));
    await store.deleteThread(idOf(3));
    say('ready');
    break;
  }
  case 'forks':
    for (let fork = 1; ; fork++) {
      const threads = await store.listThreads({ ...everyThread, direction: 'asc', limit: 1 });
      const [source] = threads.data;
      if (source !== undefined)
        say(
          await forkAndRead(
            source.id,
            threadRecord(1_000_000 + fork, { ephemeral: fork % 2 === 0, path: null }),
          ),
        );
      // So that the line is written and the next process can begin.
      await new Promise((resolve) => setImmediate(resolve));
    }
  default:
    throw new Error(`no such job: ${job}`);
}

/** The turns of a fork, which is then deleted, or the reason why it failed. */
async function forkAndRead(sourceId: string, record: ThreadRecord): Promise<string> {
  try {
    await store.forkThread(sourceId, null, record);
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
  try {
    const { data } = await turnsWithItems(store, record.id);
    await store.deleteThread(record.id);
    return `${data.length} turns of ${data[0]?.items.length} items`;
  } catch (error) {
    return String(error);
  }
}
