import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { neverCollect } from '../../../src/store/sqlite/connect/load-sqlite.ts';
import type { FaultKind, FaultTools } from './fault-kind.ts';
import type { KnownThread } from './ledger.ts';
import type { Cause, World } from './world.ts';

const WHOLE = ['', '-wal', '-shm'];
const GONE: Cause = {
  names:
    /heddle\.db\b.*(missing|gone|deleted|removed|moved|replaced|overwritten|no longer|another file|another database|not the file|damaged)/is,
};

/**
 * Faults of the database's files, made by other programs, or by the server for a client or a model.
 */
export const fileFaults: FaultKind[] = [
  { name: 'database-deleted', weight: 3, run: deleted },
  { name: 'database-replaced', weight: 3, run: replaced },
  { name: 'copy-put-back', weight: 2, run: copyPutBack },
  { name: 'own-files-opened', weight: 3, run: ownFilesOpened },
  { name: 'foreign-lock', weight: 4, run: foreignLock },
];

/** Deletes the database, or moves it away and back. */
async function deleted(world: World): Promise<void> {
  await world.begin();
  await world.settle();
  const ends = world.random.pick([WHOLE, [''], ['', '-wal']]);
  const back = world.random.chance(0.5);
  const away = `${world.lane.database}.away`;
  world.tell(`${back ? 'moved away' : 'deleted'}: ${ends.map((end) => `heddle.db${end}`)}`);
  const paths = ends
    .map((end) => ({ path: world.lane.database + end, end }))
    .filter(({ path }) => existsSync(path));
  for (const { path, end } of paths) back ? renameSync(path, away + end) : rmSync(path);
  await announcesNothing(world);
  await world.kill();
  // A next server may have made files of the same names.
  if (back) for (const { path, end } of paths) renameSync(away + end, path);
  else await startsAnew(world);
}

async function replaced(world: World, { otherDatabase }: FaultTools): Promise<void> {
  await world.begin();
  await world.settle();
  const back = world.random.chance(0.4);
  const away = `${world.lane.database}.away`;
  if (back) renameSync(world.lane.database, away);
  else if (world.random.chance(0.5)) {
    rmSync(world.lane.database);
    world.tell('a file of the same name is put in its place');
  } else world.tell('another database is copied over it');
  copyFileSync(anotherDatabase(otherDatabase), world.lane.database);
  await announcesNothing(world);
  await world.kill();
  if (back) renameSync(away, world.lane.database);
  else await startsAnew(world);
}

/**
 * Returns a database that no lane has begun with: one that has is an older state of the lane's own,
 * and no other database.
 */
function anotherDatabase(file: string): string {
  const copy = `${file}.copy`;
  copyFileSync(file, copy);
  const db = neverCollect(new Database(copy));
  db.exec(
    'UPDATE wal_mark SET token = randomblob(8), before = zeroblob(8); PRAGMA wal_checkpoint(TRUNCATE)',
  );
  db.close();
  return copy;
}

/**
 * While the database is not there, turns and threads are refused or fail, and no item is announced
 * as completed.
 */
async function announcesNothing(world: World): Promise<void> {
  world.causes.push(GONE);
  const server = await world.lane.server();
  const turns = world.threads.map((thread) => world.startTurn(thread, { plain: true }));
  const started = await world.answered(
    'thread/start',
    server.ask('thread/start', { cwd: world.lane.where.work }),
  );
  await world.settle();
  if (started.error === undefined)
    world.find('thread/start was answered though the database is gone');
  else if (!GONE.names.test(started.error.message))
    world.find(`thread/start says "${started.error.message}"`);
  for (const { plan, completed, ends } of turns) {
    if (completed.size > 0)
      world.find(
        `${completed.size} items of ${plan.key} were announced though the database is gone`,
      );
    if (ends[0]?.status === 'completed')
      world.find(`${plan.key} was announced as completed though the database is gone`);
  }
  // Nobody was told that they are kept.
  for (const thread of world.threads)
    thread.turns.splice(
      0,
      thread.turns.length,
      ...thread.turns.filter((turn) => !turns.includes(turn)),
    );
  world.checkErrors(turns);
}

/**
 * The next server works with an empty database, or with the one that is there, once what belongs to
 * the old one is gone.
 */
async function startsAnew(world: World): Promise<void> {
  world.forgetThreads();
  const server = await world.lane.server();
  const { error } = await world.answered('thread/list', server.ask('thread/list', {}));
  if (error !== undefined) {
    world.tell(`the next server says "${error.message}"`);
    if (!GONE.names.test(error.message)) world.find(`thread/list says "${error.message}"`);
    await world.kill();
    for (const end of ['-wal', '-shm']) rmSync(world.lane.database + end, { force: true });
  }
  await world.begin();
}

/** After a kill, the user puts back a copy of the database that was made while no server ran. */
async function copyPutBack(world: World): Promise<void> {
  await world.begin(0, { mayHang: false });
  await world.settle();
  const server = await world.lane.server();
  world.lane.expectEnd(server);
  await server.finish();
  world.cutOff(0);
  const copy = join(world.lane.folder, 'copy.db');
  copyFileSync(world.lane.database, copy);
  const before = world.threads.map((thread) => ({ thread, turns: thread.turns.length }));
  await world.works();
  await world.begin();
  await world.moment();
  await world.kill();
  world.tell('a copy of the database is put back');
  copyFileSync(copy, world.lane.database);
  world.forgetThreads();
  for (const { thread, turns } of before) {
    thread.turns.length = turns;
    world.threads.push(thread);
    world.lane.ledger.threads.set(thread.id, thread);
  }
  world.othersAllowed = true;
}

/** A client or a model opens the database's files. That must not drop the server's locks. */
async function ownFilesOpened(world: World): Promise<void> {
  await world.begin(0, { mayHang: false });
  await world.settle();
  const server = await world.lane.server();
  const { home, work } = world.lane.where;
  const path = world.lane.database + world.random.pick(WHOLE);
  const ways: Record<string, () => Promise<unknown>> = {
    'fs/readFile': () => server.ask('fs/readFile', { path }),
    'fs/copy': () =>
      server.ask('fs/copy', {
        sourcePath: home,
        destinationPath: join(work, `copy-${world.seed}`),
        recursive: true,
      }),
    localImage: () =>
      openByModel(world, (thread) =>
        world.startTurn(thread, { also: [{ type: 'localImage', path }] }),
      ),
    'thread/resume': () => server.ask('thread/resume', { threadId: '', path }),
    view_image: () =>
      openByModel(world, (thread) => world.startCall(thread, 'view_image', { path })),
    apply_patch: () =>
      openByModel(world, (thread) =>
        world.startCall(thread, 'apply_patch', { input: patchOf(path) }),
      ),
  };
  const way = world.random.pick(Object.keys(ways));
  world.tell(`${way} of ${path}`);
  await world.answered(way, ways[way]?.() ?? Promise.resolve());
  await world.settle();
  rmSync(join(work, `copy-${world.seed}`), { recursive: true, force: true });
  await world.startThreads(1, 1);
  const neighbour = await world.lane.server(1);
  await world.works();
  world.lane.expectEnd(neighbour);
  await neighbour.finish();
  world.cutOff(1);
  await world.works();
  await world.kill();
}

function openByModel(world: World, open: (thread: KnownThread) => void): Promise<void> {
  const [thread] = world.threads;
  if (thread !== undefined) open(thread);
  return world.settle();
}

function patchOf(path: string): string {
  return `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch`;
}

/** Another process holds the lock for writing. */
async function foreignLock(world: World): Promise<void> {
  const [idle] = await world.startThreads(0, 1);
  await world.begin(0, { mayHang: false });
  await world.moment();
  const holder = neverCollect(new Database(world.lane.database, { fileMustExist: true }));
  try {
    holder.exec(world.random.pick(['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE']));
    world.tell('another process holds the lock for writing');
    if (idle !== undefined) world.startTurn(idle, { plain: true });
    for (let times = world.random.between(1, 20); times > 0 && world.findings.length === 0; times--)
      await world.responds();
    holder.exec('ROLLBACK');
  } finally {
    holder.close();
  }
}
