import { statSync } from 'node:fs';
import type { FaultKind, FaultTools } from './fault-kind.ts';
import type { DiskOrders, FaultyDisk } from './faulty-disk.ts';
import type { Cause, World } from './world.ts';

const SLOW_MS = 600;
/** Less than the slow call takes. */
const BLOCKED_MS_MAX = 400;
const FULL: Cause = { names: /disk is full|no space|size limit|limit for the size of files/i };
const BROKEN: Cause = {
  names: /I\/O error|EIO|input\/output/i,
  not: /disk is full|free some space/i,
};

/** Faults of the disk below the database. */
export const diskFaults: FaultKind[] = [
  { name: 'disk-full', weight: 4, needs: 'library', run: diskFull },
  { name: 'size-limit', weight: 3, needs: 'prlimit', run: sizeLimit },
  {
    name: 'write-fails',
    weight: 3,
    needs: 'library',
    run: (world) => fails(world, BROKEN, { calls: ['write', 'truncate'], error: 'EIO' }),
  },
  {
    name: 'sync-fails',
    weight: 3,
    needs: 'library',
    run: (world) => fails(world, BROKEN, { calls: ['sync'], error: 'EIO' }),
  },
  {
    name: 'read-fails',
    weight: 3,
    needs: 'library',
    run: (world) => fails(world, BROKEN, { calls: ['read'], error: 'EIO' }),
  },
  { name: 'slow-sync', weight: 2, needs: 'library', run: slowSync },
];

function diskFull(world: World): Promise<void> {
  const halves = world.random.chance(0.5);
  return fails(world, FULL, { calls: ['write'], error: 'ENOSPC', halves });
}

/** Turns meet a disk that fails for some calls, or until it is repaired. */
async function fails(world: World, cause: Cause, orders: DiskOrders): Promise<void> {
  const disk = diskOf(world);
  const idle = await world.startThreads(0, 1);
  await world.begin();
  await world.moment();
  world.causes.push(cause);
  const whole = {
    ...orders,
    skip: world.random.chance(0.5) ? 0 : world.random.between(0, 20),
    ...(world.random.chance(0.4) ? { times: world.random.between(1, 3) } : {}),
  };
  disk.order(whole);
  world.tell(`${orders.calls} of the store fails with ${orders.error}: ${JSON.stringify(whole)}`);
  try {
    await useWhileItFails(world, idle);
  } finally {
    disk.repair();
    world.tell(`repaired after ${disk.affected} calls`);
  }
}

/**
 * Starts a turn, perhaps in a server that is started now, and waits until the turns can do nothing
 * more.
 */
async function useWhileItFails(world: World, idle: readonly { id: string }[]): Promise<void> {
  const [thread] = world.threads.filter(({ id }) => idle.some((one) => one.id === id));
  if (world.random.chance(0.2)) {
    world.tell('the server is killed and started again meanwhile');
    await world.kill();
    await world.verify();
    return;
  }
  if (thread !== undefined) world.startTurn(thread);
  if (world.random.chance(0.5)) await world.verify({ running: true });
  await world.responds();
  await world.moment(200);
}

/** The system refuses to make files longer than this. */
async function sizeLimit(world: World, { shell }: FaultTools): Promise<void> {
  const idle = await world.startThreads(0, 1);
  const { pid } = await world.begin();
  await world.moment();
  world.causes.push(FULL);
  const bytes = sizeOf(`${world.lane.database}-wal`) + world.random.between(0, 40_000);
  world.tell(`files may have ${bytes} bytes`);
  await limit(shell, pid, `${bytes}:`);
  try {
    await useWhileItFails(world, idle);
  } finally {
    if (world.lane.servers.some((server) => server.pid === pid))
      await limit(shell, pid, 'unlimited:');
  }
}

async function limit(shell: FaultTools['shell'], pid: number, bytes: string): Promise<void> {
  const said = (await shell.run(`prlimit --pid ${pid} --fsize=${bytes}`)).filter(
    (line) => line !== '',
  );
  if (said.length > 0) throw new Error(`prlimit: ${said.join(' ')}`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

async function slowSync(world: World): Promise<void> {
  const disk = diskOf(world);
  const [idle] = await world.startThreads(0, 1);
  await world.begin(0, { mayHang: false });
  await world.moment();
  disk.order({ calls: ['sync'], error: null, delayMs: SLOW_MS, times: 2 });
  world.tell(`two flushes of the store take ${SLOW_MS} ms`);
  try {
    if (idle !== undefined) world.startTurn(idle, { plain: true });
    const settled = world.settle().then(() => true);
    while (!(await Promise.race([settled, world.responds(0, BLOCKED_MS_MAX).then(() => false)])));
  } finally {
    disk.repair();
  }
}

function diskOf({ lane: { disk } }: World): FaultyDisk {
  if (disk === null) throw new Error('this kind of fault needs the library');
  return disk;
}
