import { constants } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { within } from '../hostile/within.ts';
import type { Exit, HeddleProcess } from '../support.ts';
import type { FaultKind } from './fault-kind.ts';
import { descendants, survivors } from './leftovers.ts';
import type { World } from './world.ts';

/** A server that ends in order may need this long, and the machine is busy. */
const END_MS_MAX = 15_000;
const TERMINATED = 128 + constants.signals.SIGTERM;

/** Faults that end or stop a server, or its client. */
export const processFaults: FaultKind[] = [
  { name: 'kill', weight: 8, run: kill },
  { name: 'term', weight: 4, run: term },
  { name: 'input-ends', weight: 3, run: inputEnds },
  { name: 'client-vanishes', weight: 3, run: clientVanishes },
  { name: 'client-stops-reading', weight: 3, run: clientStopsReading },
  { name: 'neighbour-stopped', weight: 4, run: neighbourStopped },
  { name: 'neighbour-killed', weight: 3, run: neighbourKilled },
  { name: 'neighbour-ends', weight: 2, run: neighbourEnds },
];

async function kill(world: World): Promise<void> {
  await world.begin();
  await world.moment();
  await killAndFollow(world, 0);
}

/** Kills a server, and waits for the end of the processes that it started. */
async function killAndFollow(world: World, number: number): Promise<void> {
  const server = await world.lane.server(number);
  const started = descendants(server.pid);
  world.tell(`SIGKILL of server ${number}`);
  await world.kill(number);
  for (const left of await survivors(started))
    world.find(`a process outlives the killed server: ${left}`);
}

async function term(world: World): Promise<void> {
  const server = await world.begin();
  await world.moment();
  const both = world.random.chance(0.3);
  world.tell(both ? 'end of the input and SIGTERM' : 'SIGTERM');
  await endAndFollow(world, server, () => {
    if (both) server.input.end();
    server.signal('SIGTERM');
    return both ? [0, TERMINATED] : [TERMINATED];
  });
  // A client that ends the input is gone, and is told nothing more.
  const untold = both ? [] : world.lane.ledger.openTurns(world.threads);
  for (const { plan } of untold) world.find(`the accepted turn ${plan.key} has no end on the wire`);
}

async function inputEnds(world: World): Promise<void> {
  const server = await world.begin();
  await world.moment();
  world.tell('end of the input');
  await endAndFollow(world, server, () => {
    server.input.end();
    return [0];
  });
}

async function clientVanishes(world: World): Promise<void> {
  const server = await world.begin();
  await world.moment();
  world.tell('the client closes both pipes');
  await endAndFollow(world, server, () => {
    server.stdout.destroy();
    server.stdin.destroy();
    return [0];
  });
}

/**
 * Ends a server in order. `begin` returns the exit codes that are right. No process that the server
 * started may be left.
 */
async function endAndFollow(
  world: World,
  server: HeddleProcess,
  begin: () => number[],
): Promise<void> {
  world.ending = true;
  world.lane.expectEnd(server);
  const started = descendants(server.pid);
  const codes = begin();
  const exit = await ended(server);
  if (exit.code === null || !codes.includes(exit.code))
    world.find(`the server ended with ${JSON.stringify(exit)}`);
  world.cutOff(0);
  for (const left of await survivors(started)) world.find(`a process outlives the server: ${left}`);
}

/** The end of a server, once all that it wrote has been read. */
async function ended(server: HeddleProcess): Promise<Exit> {
  const exit = await within(END_MS_MAX, 'the end of the server', server.exit);
  await within(END_MS_MAX, 'the end of the output', server.ended);
  return exit;
}

async function clientStopsReading(world: World): Promise<void> {
  const server = await world.begin();
  await world.moment();
  server.stdout.unpipe(server.output);
  world.tell('the client stops reading');
  for (let rounds = world.random.below(200); rounds > 0; rounds--) await setImmediate();
  if (world.random.chance(0.3)) {
    world.tell('and the server is killed');
    await world.kill();
    return;
  }
  server.stdout.pipe(server.output);
}

async function neighbourStopped(world: World): Promise<void> {
  const [idle] = await world.startThreads(0, 1);
  await world.begin(0, { mayHang: false });
  const neighbour = await world.begin(1, { mayHang: false });
  await world.moment();
  world.tell('SIGSTOP of server 1');
  neighbour.signal('SIGSTOP');
  try {
    if (idle !== undefined) world.startTurn(idle);
    await world.responds(0);
    if (world.findings.length === 0) await world.responds(0);
  } finally {
    neighbour.signal('SIGCONT');
  }
}

async function neighbourKilled(world: World): Promise<void> {
  await world.begin(0);
  await world.begin(1);
  await world.moment();
  await killAndFollow(world, 1);
  takeOver(world);
}

async function neighbourEnds(world: World): Promise<void> {
  await world.begin(0);
  const neighbour = await world.begin(1);
  await world.moment();
  world.ending = true;
  world.lane.expectEnd(neighbour);
  world.tell('end of the input of server 1');
  neighbour.input.end();
  await ended(neighbour);
  world.cutOff(1);
  takeOver(world);
}

/** The threads of server 1 go to server 0, or to the next server 1. */
function takeOver(world: World): void {
  if (world.random.chance(0.3)) return;
  for (const thread of world.threads) thread.server = 0;
}
