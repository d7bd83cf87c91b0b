import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadListParams } from '../../src/protocol/generated/types.ts';
import { COMMON_WORD, fillThreads, RARE_WORD } from './fill-threads.ts';
import { callStream, type MockModel, messageStream } from './mock-model.ts';
import { ServerProcess } from './server-process.ts';
import { median, quantile } from './table.ts';

/** The values that a workload measured, with their units, by the name of the row. */
export type Sample = Record<string, { value: number; unit: string }>;

export interface Subject {
  name: string;
  command: [string, ...string[]];
  /** Whether it stores threads. */
  stores: boolean;
}

export interface Bench {
  /** A folder for homes, which is removed at the end. */
  folder: string;
  model: MockModel;
  quick: boolean;
}

export interface Workload {
  name: string;
  repetitions: { whole: number; quick: number };
  needsStore: boolean;
  run(subject: Subject, bench: Bench): Promise<Sample>;
}

const MANAGED_NETWORK = {
  'features.network_proxy': true,
  'sandbox_workspace_write.network_access': true,
};
const SETTLE_MS = 500;
const SILENCE_MS = 3000;
export const PROMPT =
  'Please look at the next file, and say in a sentence or two whether anything in it wants attention.';
const ANSWER = messageStream([
  'The file reads well. ',
  'One name is used for two things: it would help the reader to tell them apart. ',
  'Nothing else wants attention.',
]);

/** The running servers, which are killed if the bench ends early. */
export const running = new Set<ServerProcess>();

export const workloads: Workload[] = [
  { name: 'start', repetitions: { whole: 15, quick: 3 }, needsStore: false, run: measureStart },
  { name: 'turns', repetitions: { whole: 5, quick: 2 }, needsStore: false, run: measureTurns },
  { name: 'stream', repetitions: { whole: 5, quick: 2 }, needsStore: false, run: measureStream },
  {
    name: 'requests',
    repetitions: { whole: 5, quick: 2 },
    needsStore: false,
    run: measureRequests,
  },
  { name: 'tools', repetitions: { whole: 5, quick: 2 }, needsStore: false, run: measureTools },
  { name: 'output', repetitions: { whole: 3, quick: 1 }, needsStore: true, run: measureOutput },
  { name: 'history', repetitions: { whole: 5, quick: 2 }, needsStore: true, run: measureHistory },
  { name: 'lists', repetitions: { whole: 5, quick: 2 }, needsStore: true, run: measureLists },
];

async function measureStart(subject: Subject, bench: Bench): Promise<Sample> {
  const home = newHome(bench);
  const sample: Sample = {};
  for (const start of ['first start in a home', 'second start in a home']) {
    const server = startServer(subject, home, bench);
    sample[`${start}: spawn → initialize`] = { value: await server.initialize(), unit: 'ms' };
    if (start.startsWith('first')) {
      await sleep(SETTLE_MS);
      sample['resident memory after initialize'] = { value: server.memory().now, unit: 'MiB' };
    }
    const threadId = await server.startThread(bench.folder);
    if (start.startsWith('second'))
      sample[`${start}: spawn → thread/start`] = { value: server.ageMs, unit: 'ms' };
    await server.turn(threadId, PROMPT);
    if (start.startsWith('second'))
      sample[`${start}: spawn → turn/completed`] = { value: server.ageMs, unit: 'ms' };
    await stop(server);
  }
  return sample;
}

async function measureTurns(subject: Subject, bench: Bench): Promise<Sample> {
  const home = newHome(bench);
  const server = startServer(subject, home, bench);
  await server.initialize();
  const threadId = await server.startThread(bench.folder);
  const first = await server.turn(threadId, PROMPT);
  const later: number[] = [];
  for (let turn = 0; turn < (bench.quick ? 30 : 100); turn++)
    later.push(await server.turn(threadId, PROMPT));
  await stop(server);
  return {
    'first turn': { value: first, unit: 'ms' },
    'later turns, p50': { value: median(later), unit: 'ms' },
    'later turns, p99': { value: quantile(later, 0.99), unit: 'ms' },
  };
}

async function measureStream(subject: Subject, bench: Bench): Promise<Sample> {
  const count = bench.quick ? 10_000 : 50_000;
  const home = newHome(bench);
  const server = startServer(subject, home, bench);
  await server.initialize();
  const threadId = await server.startThread(bench.folder);
  await server.turn(threadId, PROMPT);
  const before = server.memory().now;
  bench.model.answer = messageStream(Array.from({ length: count }, (_, index) => `word${index} `));
  let seen = 0;
  let firstAt = 0;
  const counted = server.watch((lines, at) => {
    if (firstAt === 0) firstAt = at;
    seen += occurrences(lines, '{"method":"item/agentMessage/delta"');
    return seen >= count;
  });
  const [endAt, ms] = await Promise.all([counted, server.turn(threadId, PROMPT)]);
  const { peak } = server.memory();
  bench.model.answer = ANSWER;
  await stop(server);
  const of = `a turn of ${count.toLocaleString('en')} deltas`;
  return {
    [of]: { value: ms, unit: 'ms' },
    [`${of}: rate`]: { value: (count / (endAt - firstAt)) * 1000, unit: '1/s' },
    [`${of}: resident memory before`]: { value: before, unit: 'MiB' },
    [`${of}: highest resident memory`]: { value: peak, unit: 'MiB' },
  };
}

async function measureRequests(subject: Subject, bench: Bench): Promise<Sample> {
  const home = newHome(bench);
  const server = startServer(subject, home, bench);
  await server.initialize();
  const threadId = await server.startThread(bench.folder);
  await server.turn(threadId, PROMPT);
  const reads: number[] = [];
  for (let read = 0; read < 200; read++)
    reads.push((await server.request('thread/read', { threadId })).ms);
  const { answered, refused, silent, ms } = await flood(server, threadId);
  await stop(server);
  const of = '1,000 × thread/read in one write';
  return {
    'thread/read, p50': { value: median(reads), unit: 'ms' },
    'thread/read, p99': { value: quantile(reads, 0.99), unit: 'ms' },
    [of]: { value: ms, unit: 'ms' },
    [`${of}: answered`]: { value: answered, unit: '' },
    [`${of}: refused`]: { value: refused, unit: '' },
    [`${of}: silent`]: { value: silent, unit: '' },
  };
}

/** Sends more requests at once than any client should. */
async function flood(server: ServerProcess, threadId: string) {
  const count = 1000;
  const fates = new Map<number, boolean>();
  const sentAt = performance.now();
  let lastAt = sentAt;
  const done = server.watch((lines, at) => {
    for (const [, id, outcome] of lines
      .toString('latin1')
      .matchAll(/^\{"id":(9\d{6}),"(result|error)"/gm)) {
      fates.set(Number(id), outcome === 'result');
      lastAt = at;
    }
    return fates.size === count;
  }, SILENCE_MS);
  const request = (id: number) =>
    `${JSON.stringify({ id, method: 'thread/read', params: { threadId } })}\n`;
  server.write(Array.from({ length: count }, (_, index) => request(9_000_000 + index)).join(''));
  await done.catch(() => {});
  const answered = [...fates.values()].filter((fate) => fate).length;
  return {
    answered,
    refused: fates.size - answered,
    silent: count - fates.size,
    ms: lastAt - sentAt,
  };
}

/** Measures consecutive tool calls in one turn, and the same command without a server. */
async function measureTools(subject: Subject, bench: Bench): Promise<Sample> {
  const count = 50;
  const home = newHome(bench);
  const sample: Sample = {
    '`bash -lc true` by itself': { value: bareCommandMs(home, count), unit: 'ms' },
  };
  for (const [name, sandbox, config] of [
    ['full access', 'danger-full-access', {}],
    ['sandboxed', 'workspace-write', {}],
    ['with a proxy', 'workspace-write', MANAGED_NETWORK],
  ] as const) {
    const server = startServer(subject, home, bench);
    await server.initialize();
    const { result } = await server.request('thread/start', { cwd: bench.folder, sandbox, config });
    let left = 1;
    bench.model.answer = () =>
      left-- > 0 ? callStream(`call_${left}`, 'exec_command', { cmd: 'true' }) : ANSWER;
    await server.turn(result.thread.id, PROMPT);
    left = count;
    sample[`a tool call, ${name}`] = {
      value: (await server.turn(result.thread.id, PROMPT)) / count,
      unit: 'ms',
    };
    await stop(server);
  }
  return sample;
}

/** The median over `count` runs, in milliseconds, in the server's environment. */
function bareCommandMs(home: string, count: number): number {
  const env = { PATH: process.env.PATH, HOME: home };
  const times = Array.from({ length: count }, () => {
    const startedAt = performance.now();
    execFileSync('bash', ['-lc', 'true'], { env });
    return performance.now() - startedAt;
  });
  return median(times);
}

/**
 * Measures a command with a very long output, and the response times of other requests while it
 * runs.
 */
async function measureOutput(subject: Subject, bench: Bench): Promise<Sample> {
  const lines = bench.quick ? 30_000 : 300_000;
  const home = newHome(bench);
  const server = startServer(subject, home, bench);
  await server.initialize();
  const { result } = await server.request('thread/start', {
    cwd: bench.folder,
    sandbox: 'danger-full-access',
  });
  const threadId = result.thread.id;
  let left = 1;
  const call = (cmd: string) => () =>
    left-- > 0
      ? callStream(`call_${left}`, 'exec_command', { cmd, yield_time_ms: 30_000 })
      : ANSWER;
  bench.model.answer = call('true');
  await server.turn(threadId, PROMPT);
  const before = server.memory().now;
  left = 1;
  bench.model.answer = call(
    `for ((i = 0; i < ${lines}; i++)); do echo "line $i of a long output"; done`,
  );
  let ended = false;
  const turn = server.turn(threadId, PROMPT).finally(() => {
    ended = true;
  });
  const answers: number[] = [];
  while (!ended) {
    answers.push((await server.request('thread/loaded/list', {})).ms);
    await sleep(5);
  }
  const ms = await turn;
  const { peak } = server.memory();
  await stop(server);
  const of = `a command of ${lines.toLocaleString('en')} lines`;
  return {
    [of]: { value: ms, unit: 'ms' },
    [`${of}: slowest other answer`]: { value: Math.max(...answers), unit: 'ms' },
    [`${of}: resident memory before`]: { value: before, unit: 'MiB' },
    [`${of}: highest resident memory`]: { value: peak, unit: 'MiB' },
  };
}

async function measureHistory(subject: Subject, bench: Bench): Promise<Sample> {
  const { home: untouched, warmUp, threads } = await filledHome(subject, bench);
  const home = join(bench.folder, 'history');
  cpSync(untouched, home, { recursive: true });
  const sample: Sample = {};
  let server = startServer(subject, home, bench);
  await server.initialize();
  for (let time = 0; time < 5; time++)
    await server.request('thread/fork', { threadId: warmUp, excludeTurns: true });
  await server.request('thread/resume', { threadId: warmUp, excludeTurns: true });
  for (const { length, threadId } of threads) {
    const { ms } = await server.request('thread/resume', { threadId, excludeTurns: true });
    sample[`thread/resume, excludeTurns, of ${length} turns`] = { value: ms, unit: 'ms' };
  }
  for (const { length, threadId } of threads) {
    const times: number[] = [];
    for (let time = 0; time < 5; time++)
      times.push((await server.request('thread/fork', { threadId, excludeTurns: true })).ms);
    sample[`thread/fork, excludeTurns, of ${length} turns`] = { value: median(times), unit: 'ms' };
  }
  await stop(server);

  server = startServer(subject, home, bench);
  await server.initialize();
  await server.request('thread/resume', { threadId: warmUp });
  for (const { length, threadId } of threads) {
    const { ms, result } = await server.request('thread/resume', { threadId });
    if (result.thread.turns.length !== length)
      throw new Error(`${result.thread.turns.length} of ${length} turns came back`);
    sample[`thread/resume with all of ${length} turns`] = { value: ms, unit: 'ms' };
    sample[`next turn after ${length} turns`] = {
      value: await server.turn(threadId, PROMPT),
      unit: 'ms',
    };
  }
  await stop(server);
  rmSync(home, { recursive: true });
  return sample;
}

async function measureLists(subject: Subject, bench: Bench): Promise<Sample> {
  const count = bench.quick ? 1_000 : 10_000;
  const home = join(bench.folder, 'lists');
  if (!existsSync(home)) {
    renameSync(newHome(bench), home);
    await fillThreads(home, count);
  }
  const server = startServer(subject, home, bench);
  await server.initialize();
  const sample: Sample = {};
  const measureRequest = async (name: string, params: ThreadListParams) => {
    const times: number[] = [];
    for (let time = 0; time < 50; time++)
      times.push((await server.request('thread/list', params)).ms);
    sample[`${name} of ${count.toLocaleString('en')} threads, p50`] = {
      value: median(times),
      unit: 'ms',
    };
  };
  await measureRequest('first page', {});
  await measureRequest('first 100', { limit: 100 });
  const terms = {
    'a common word': COMMON_WORD,
    'a rare word': RARE_WORD,
    'two characters': RARE_WORD.slice(0, 2),
    nothing: 'zzz',
  };
  for (const [name, searchTerm] of Object.entries(terms))
    await measureRequest(`search for ${name}`, { searchTerm });
  await stop(server);
  return sample;
}

interface FilledHome {
  home: string;
  warmUp: string;
  threads: { length: number; threadId: string }[];
}
const filled = new Map<string, FilledHome>();

/**
 * A home with threads of several lengths. Filled once for each subject, by running all their turns.
 */
async function filledHome(subject: Subject, bench: Bench): Promise<FilledHome> {
  const known = filled.get(subject.name);
  if (known !== undefined) return known;
  const home = newHome(bench);
  const server = startServer(subject, home, bench);
  await server.initialize();
  const fill = async (length: number) => {
    const threadId = await server.startThread(bench.folder);
    for (let turn = 0; turn < length; turn++) await server.turn(threadId, PROMPT);
    return { length, threadId };
  };
  const { threadId: warmUp } = await fill(5);
  const threads: FilledHome['threads'] = [];
  for (const length of bench.quick ? [20, 200] : [20, 200, 2000]) threads.push(await fill(length));
  await stop(server);
  const made = { home, warmUp, threads };
  filled.set(subject.name, made);
  return made;
}

/** Makes a home that uses the model of the bench. */
export function newHome({ folder, model }: Bench): string {
  const home = mkdtempSync(join(folder, 'home-'));
  const lines = [
    'model = "bench"',
    'model_provider = "bench"',
    'approval_policy = "never"',
    'sandbox_mode = "read-only"',
    // Histories are as long as the bench wants.
    'model_context_window = 1000000000',
    '[model_providers.bench]',
    `base_url = "${model.baseUrl}"`,
  ];
  writeFileSync(join(home, 'config.toml'), `${lines.join('\n')}\n`);
  model.answer = ANSWER;
  return home;
}

/**
 * Starts a server with a minimal environment: variables of the user's can make Node slower to
 * start.
 */
export function startServer(
  { command }: Subject,
  home: string,
  { model }: Bench,
  variables: Record<string, string> = {},
): ServerProcess {
  const env = {
    ...variables,
    PATH: process.env.PATH,
    HOME: home,
    HEDDLE_HOME: home,
    BENCH_MODEL_URL: model.baseUrl,
  };
  const server = new ServerProcess(command, { cwd: home, env });
  running.add(server);
  return server;
}

/** Ends a server in order. */
export async function stop(server: ServerProcess): Promise<void> {
  await server.close();
  running.delete(server);
}

function occurrences(lines: Buffer, text: string): number {
  let count = 0;
  for (let at = lines.indexOf(text); at !== -1; at = lines.indexOf(text, at + text.length)) count++;
  return count;
}
