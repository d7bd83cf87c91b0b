import Database from 'better-sqlite3';
import { neverCollect } from '../../../src/store/sqlite/connect/load-sqlite.ts';
import { Random } from '../hostile/random.ts';
import { within } from '../hostile/within.ts';
import type { FaultKind, FaultTools } from './fault-kind.ts';
import { ANSWER_MS_MAX, type Lane } from './lane.ts';
import { problemsOfWorkspace } from './ledger.ts';
import { homeLeft, lockFiles, processesLeft, workspaceLeft } from './leftovers.ts';
import { World } from './world.ts';

/** A world never takes as long. */
const WORLD_MS_MAX = 120_000;
/** How many threads of earlier worlds stay. */
const KEPT_MAX = 3;
/** A server that only starts and ends. */
const NEXT_SERVER = 2;

/** The problems that were found in a world. */
export interface WorldRun {
  findings: string[];
  story: string[];
  ms: number;
}

/** Runs one seed of a kind in a lane. A lane with findings must not be used any more. */
export async function runWorld(
  kind: FaultKind,
  seed: number,
  lane: Lane,
  tools: FaultTools,
): Promise<WorldRun> {
  const startedAt = performance.now();
  const world = new World({ seed, random: new Random(seed), lane });
  try {
    await within(WORLD_MS_MAX, 'the world', wholeWorld(kind, world, tools));
  } catch (error) {
    const crashed = lane.crashed.map(({ stderr }) => `the server crashed: ${stderr.slice(-1_000)}`);
    world.find([String(error), ...crashed].join('\n'));
  }
  return { findings: world.findings, story: world.story, ms: performance.now() - startedAt };
}

async function wholeWorld(kind: FaultKind, world: World, tools: FaultTools): Promise<void> {
  await kind.run(world, tools);
  await world.settle();
  world.checkErrors();
  await restartSome(world);
  await world.verify();
  const expected = world.causes.splice(0);
  await world.works();
  await world.verify();
  world.checkErrors(world.threads.flatMap(({ turns }) => turns.slice(-1)));
  await checkLeftovers(world, { errorsExpected: expected.length > 0 });
  await tidyUp(world);
}

/** A restart shows what is on disk. */
async function restartSome(world: World): Promise<void> {
  const { lane, random } = world;
  for (const number of [0, 1]) {
    if (!lane.isRunning(number)) continue;
    const how = random.weighted([
      { weight: 2, name: 'stays' },
      { weight: 2, name: 'is killed' },
      { weight: 1, name: 'ends' },
    ]).name;
    world.tell(`server ${number} ${how}`);
    if (how === 'is killed') await world.kill(number);
    if (how !== 'ends') continue;
    const server = await lane.server(number);
    lane.expectEnd(server);
    const exit = await world.answered('the end', server.finish());
    if (exit.code !== 0) world.find(`the server ended with ${JSON.stringify(exit)}`);
    world.cutOff(number);
  }
}

async function checkLeftovers(
  world: World,
  { errorsExpected }: { errorsExpected: boolean },
): Promise<void> {
  const { lane, threads } = world;
  const { servers } = lane;
  const found = [
    ...threads.flatMap((thread) => problemsOfWorkspace(thread)),
    ...(await processesLeft(lane.folder, servers)).map((left) => `a process is left: ${left}`),
    ...(await Promise.all(threads.map(({ cwd }) => workspaceLeft(cwd))))
      .flat()
      .map((name) => `${name} is left in a workspace`),
    ...(await filesLeftInHome(lane)).map((left) => `left in the home: ${left}`),
    ...lane.ledger.problems.splice(0),
    ...lane.model.problems.splice(0),
    ...servers
      .flatMap((server) => server.problems.splice(0))
      .map((problem) => `invalid message: ${problem}`),
    ...(errorsExpected
      ? []
      : servers
          .flatMap((server) => server.errors())
          .map((line) => `logged: ${line.slice(0, 500)}`)),
    ...damage(lane.database),
  ];
  for (const problem of found) world.find(problem);
  for (const server of servers) server.stderr = '';
}

/** The next server that starts removes what killed ones left. */
async function filesLeftInHome(lane: Lane): Promise<string[]> {
  const { home } = lane.where;
  if (lockFiles(home) === lane.servers.length) return homeLeft(home, lane.servers.length);
  const next = await lane.server(NEXT_SERVER);
  const { thread } = await next.request('thread/start', { cwd: home });
  await next.request('thread/delete', { threadId: thread.id });
  lane.expectEnd(next);
  await within(ANSWER_MS_MAX, 'the end', next.finish());
  return homeLeft(home, lane.servers.length);
}

/** The problems that SQLite finds in a database. */
function damage(file: string): string[] {
  const database = neverCollect(new Database(file, { readonly: true, fileMustExist: true }));
  try {
    const said = database.pragma('quick_check', { simple: true });
    return said === 'ok' ? [] : [`quick_check says ${said}`];
  } finally {
    database.close();
  }
}

/** Deletes the threads but for one, which later worlds check, and forgets old messages. */
async function tidyUp({ lane, threads, random }: World): Promise<void> {
  const [kept, ...others] = random.chance(0.5) ? threads : threads.toReversed();
  const old = lane.kept.length >= KEPT_MAX ? lane.kept.splice(0, 1) : [];
  for (const { id, cwd, server, turns } of [...others, ...old]) {
    await (await lane.server(server)).ask('thread/delete', { threadId: id });
    lane.removeWorkspace(cwd);
    lane.ledger.threads.delete(id);
    for (const { plan } of turns) lane.model.forget(plan.key);
  }
  if (kept !== undefined) lane.kept.push({ ...kept, server: 0 });
  for (const server of lane.servers) {
    server.messages.length = 0;
    server.lines.length = 0;
  }
}
