import { join } from 'node:path';
import type { LogEntry } from '../../src/store/log-entry.ts';
import type { ThreadStore } from '../../src/store/thread-store.ts';
import { fillThread, openStore } from '../store/fill-thread.ts';
import {
  agentMessage,
  idOf,
  itemEntry,
  settings,
  threadRecord,
  turnEnded,
  turnEntries,
  turnStarted,
} from '../store/samples.ts';
import { asked } from '../support/test-model.ts';
import { COMMON_WORD, fillThreads, RARE_WORD } from './fill-threads.ts';
import type { ServerProcess } from './server-process.ts';
import { median } from './table.ts';
import { type Bench, newHome, PROMPT, type Subject, startServer, stop } from './workloads.ts';

/** Milliseconds by the name of the row. */
type Costs = Record<string, number>;

/** One way in which a home can grow. */
interface Axis {
  title: string;
  sizes: { whole: number[]; quick: number[]; large?: number[] };
  /** Fills a new home and measures it. */
  measure(size: number, run: Run): Promise<Costs>;
}

interface Run {
  subject: Subject;
  bench: Bench;
}

export interface GrowthOptions extends Run {
  /** Adds sizes that take long to fill. */
  large: boolean;
}

const TIMES = 7;
/** Threads of the same content, for what can be measured only once in each. */
const COPIES = 3;
const ITEMS_OF_A_SIZE = 40;

const AXES: Axis[] = [
  {
    title: 'threads',
    sizes: { whole: [100, 1_000, 10_000], quick: [100, 1_000], large: [20_000] },
    measure: byThreads,
  },
  {
    title: 'turns in a thread',
    sizes: { whole: [100, 1_000, 10_000], quick: [100, 1_000], large: [20_000] },
    measure: byTurns,
  },
  {
    title: `bytes in each of ${ITEMS_OF_A_SIZE} items`,
    sizes: { whole: [1_000, 10_000, 100_000, 1_000_000], quick: [1_000, 100_000] },
    measure: byBytes,
  },
  {
    title: 'forks of forks',
    sizes: { whole: [1, 10, 100, 500], quick: [1, 50] },
    measure: byForks,
  },
];

/**
 * Measures how the costs grow, and returns a Markdown table for each way to grow. Each size has a
 * home of its own.
 */
export async function growthTables({ subject, bench, large }: GrowthOptions): Promise<string> {
  const tables: string[] = [];
  for (const { title, sizes, measure } of AXES) {
    const chosen = bench.quick
      ? sizes.quick
      : [...sizes.whole, ...(large ? (sizes.large ?? []) : [])];
    const columns: { size: number; costs: Costs }[] = [];
    for (const size of chosen) {
      process.stderr.write(`growth: ${size.toLocaleString('en')} ${title} …\n`);
      columns.push({ size, costs: await measure(size, { subject, bench }) });
    }
    tables.push(tableOf(title, columns));
  }
  return tables.join('\n\n');
}

async function byThreads(count: number, { subject, bench }: Run): Promise<Costs> {
  const home = newHome(bench);
  await fillThreads(home, count);
  // The first start after the fill may have more to do.
  await restarted(subject, home, bench);
  const started = startServer(subject, home, bench);
  const startMs = await started.initialize();
  const firstListMs = (await started.request('thread/list', {})).ms;
  const threadStartMs = (await started.request('thread/start', { cwd: bench.folder })).ms;
  await stop(started);

  const server = startServer(subject, home, bench);
  await server.initialize();
  const threadId = await server.startThread(bench.folder);
  const firstTurnMs = await server.turn(threadId, PROMPT);
  const costs: Costs = {
    'start: spawn → initialize': startMs,
    'first thread/list after the start': firstListMs,
    'thread/list, a page': await repeated(async () => (await server.request('thread/list', {})).ms),
    'thread/list, search for a common word': await repeated(
      async () => (await server.request('thread/list', { searchTerm: COMMON_WORD })).ms,
    ),
    'thread/list, search for a rare word': await repeated(
      async () => (await server.request('thread/list', { searchTerm: RARE_WORD })).ms,
    ),
    'thread/start': threadStartMs,
    'first turn': firstTurnMs,
    'later turn': await repeated(() => server.turn(threadId, PROMPT)),
  };
  for (let number = 1; number <= count; number++)
    await server.request('thread/resume', { threadId: idOf(number), excludeTurns: true });
  costs['a turn while all threads are loaded'] = await repeated(() =>
    server.turn(threadId, PROMPT),
  );
  costs['thread/delete'] = await deletedMs(server, [1, 2, 3].map(idOf));
  const endsAt = performance.now();
  await stop(server);
  costs['end of the server with all threads loaded'] = performance.now() - endsAt;
  return costs;
}

async function byTurns(count: number, run: Run): Promise<Costs> {
  return costsOfHistory(run, (store, number) =>
    fillThread(store, recordOf(number, run.bench.folder), turnsOf(number, count)),
  );
}

async function byBytes(bytes: number, run: Run): Promise<Costs> {
  return costsOfHistory(run, async (store, number) => {
    const turns = Array.from({ length: ITEMS_OF_A_SIZE }, (_, item) => {
      const turnId = turnIdOf(number, item);
      const text = `${turnId} ${'x'.repeat(bytes)}`;
      const model = { kind: 'model' as const, turnId, item: asked(text.slice(0, 1_000)) };
      return [
        turnStarted(turnId),
        itemEntry(turnId, agentMessage(`${turnId} answer`, text)),
        model,
        turnEnded(turnId),
      ];
    });
    await fillThread(store, recordOf(number, run.bench.folder), turns);
  });
}

async function byForks(depth: number, run: Run): Promise<Costs> {
  let made = 1_000;
  return costsOfHistory(run, async (store, number) => {
    let source = ++made;
    await fillThread(store, recordOf(source, run.bench.folder), turnsOf(source, 1));
    for (let level = 1; level <= depth; level++) {
      const fork = level === depth ? number : ++made;
      const writer = await store.forkThread(idOf(source), null, recordOf(fork, run.bench.folder));
      await writer.append(turnEntries(turnIdOf(fork, 0)));
      await writer.close();
      source = fork;
    }
  });
}

/** Measures threads with the same history. `fill` stores one with this number. */
async function costsOfHistory(
  { subject, bench }: Run,
  fill: (store: ThreadStore, number: number) => Promise<void>,
): Promise<Costs> {
  const home = newHome(bench);
  const store = openStore(home);
  const numbers = Array.from({ length: COPIES }, (_, index) => index + 1);
  for (const number of numbers) await fill(store, number);
  await store.close();
  await restarted(subject, home, bench);
  const server = startServer(subject, home, bench);
  await server.initialize();
  const warmUp = await server.startThread(bench.folder);
  await server.turn(warmUp, PROMPT);
  const [first = ''] = numbers.map(idOf);
  const page = { threadId: first, limit: 20 };
  const costs: Costs = {
    'thread/turns/list, a page of 20': await repeated(
      async () => (await server.request('thread/turns/list', page)).ms,
    ),
    'thread/items/list, a page of 20': await repeated(
      async () => (await server.request('thread/items/list', page)).ms,
    ),
    'thread/fork, excludeTurns': await repeated(
      async () => (await server.request('thread/fork', { threadId: first, excludeTurns: true })).ms,
    ),
  };
  const [resume, next, later]: [number[], number[], number[]] = [[], [], []];
  for (const threadId of numbers.map(idOf)) {
    resume.push((await server.request('thread/resume', { threadId, excludeTurns: true })).ms);
    next.push(await server.turn(threadId, PROMPT));
    later.push(await repeated(() => server.turn(threadId, PROMPT)));
  }
  costs['thread/resume, excludeTurns'] = median(resume);
  costs['next turn'] = median(next);
  costs['later turn'] = median(later);
  costs['memory of the server, MiB'] = server.memory().now;
  costs['thread/delete'] = await deletedMs(server, numbers.map(idOf));
  await stop(server);
  return costs;
}

function recordOf(number: number, cwd: string) {
  return threadRecord(number, { settings: { ...settings, modelProvider: 'bench', cwd } });
}

function turnsOf(number: number, count: number): LogEntry[][] {
  return Array.from({ length: count }, (_, turn) => turnEntries(turnIdOf(number, turn)));
}

function turnIdOf(number: number, turn: number): string {
  return idOf(number * 1_000_000 + turn);
}

async function repeated(measure: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < TIMES; time++) times.push(await measure());
  return median(times);
}

async function deletedMs(server: ServerProcess, threadIds: string[]): Promise<number> {
  const times: number[] = [];
  for (const threadId of threadIds)
    times.push((await server.request('thread/delete', { threadId })).ms);
  return median(times);
}

async function restarted(subject: Subject, home: string, bench: Bench): Promise<void> {
  const server = startServer(subject, home, bench);
  await server.initialize();
  await server.turn(await server.startThread(join(bench.folder)), PROMPT);
  await stop(server);
}

/** A row for each cost, a column for each size, and how much the last size costs of the first. */
function tableOf(title: string, columns: { size: number; costs: Costs }[]): string {
  const sizes = columns.map(({ size }) => size.toLocaleString('en'));
  const rows = Object.keys(columns[0]?.costs ?? {}).map((name) => {
    const values = columns.map(({ costs }) => costs[name] ?? Number.NaN);
    const growth = (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN);
    return [name, ...values.map(roundedMs), `${growth.toFixed(1)} ×`];
  });
  const all = [[title, ...sizes, 'last / first'], ...rows];
  const widths =
    all[0]?.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = all.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  return lines.join('\n');
}

function roundedMs(ms: number): string {
  return ms >= 100 ? Math.round(ms).toLocaleString('en') : ms.toPrecision(3);
}
