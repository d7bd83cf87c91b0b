// @module-tag slow
import { cpSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Turn } from '../../src/protocol/generated/types.ts';
import { tempFolder, writeFiles } from '../config/temp-folder.ts';
import { exampleServer } from '../mcp/mcp-thread.ts';
import { mortalScript, workerEnds } from '../support/mortal-script.ts';
import { text } from '../support/test-client.ts';
import { readTurns } from '../support/thread-with.ts';
import { Random } from './hostile/random.ts';
import { type HeddleProcess, type Place, place, startHeddle } from './support.ts';

const ROOT = dirname(dirname(import.meta.dirname));
const SEED = 1;
const THREADS = 6;
const MS_MAX = 900_000;
const CONFIG = `model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "workspace-write"
[sandbox_workspace_write]
network_access = true
[features.network_proxy.domains]
"denied.example.com" = "deny"
${exampleServer()}`;

const FETCH_DENIED = `
const { hostname, port } = new URL(process.env.HTTP_PROXY);
require('node:http').get({ hostname, port, path: 'http://denied.example.com/' }, ({ statusCode }) => console.log('status', statusCode));
`;

/** The built scripts of the workers whose ends are tried. */
const SCRIPTS = {
  store: 'store.worker',
  search: 'search.worker',
  mcp: 'mcp.worker',
  proxies: 'proxy.worker',
  'toml-editor': 'toml-editor.worker',
};
type WorkerName = keyof typeof SCRIPTS;

/** Lays out the built server, and ends one of its workers at random. Returns its executable. */
function layOut(
  worker: WorkerName,
  ends: { count: number; messagesMax: number },
): { executable: string; ended(): number } {
  const folder = tempFolder();
  for (const name of readdirSync(ROOT)) {
    if (name === 'bin') cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    else symlinkSync(join(ROOT, name), join(folder, name));
  }
  const script = join(folder, 'bin', 'load-worker.js');
  const original = join(folder, 'bin', 'load-worker-itself.js');
  renameSync(script, original);
  const { ended } = mortalScript(script, original, {
    ...{ seed: SEED, ...ends },
    worker: SCRIPTS[worker],
  });
  return { executable: join(folder, 'bin', 'heddle.js'), ended };
}

/** The items that clients have seen completed in a turn. */
function announcedItems(heddle: HeddleProcess, turnId: string) {
  return heddle
    .notifications('item/completed', (params) => params.turnId === turnId)
    .map(({ item }) => item);
}

/**
 * Has turns in a thread until `isOver`: answers, commands that leave a line in a file, and
 * interrupts. Returns the turns as announced.
 */
async function work(
  heddle: HeddleProcess,
  { work: cwd }: Place,
  { number, isOver }: { number: number; isOver: () => boolean },
) {
  const random = new Random(SEED * 100 + number);
  const { thread } = await heddle.request('thread/start', { cwd });
  const marks = join(cwd, `marks-${number}`);
  const turns: Turn[] = [];
  let commands = 0;
  while (!isOver()) {
    const command = random.chance(0.3)
      ? `call exec_command ${JSON.stringify({ cmd: `echo ${++commands} >> ${marks}` })}\n`
      : '';
    const input = text(`${command}say ${'word '.repeat(1 + random.below(200))}`);
    const { turn } = await heddle.request('turn/start', { threadId: thread.id, input });
    if (command === '' && random.chance(0.2))
      await heddle.ask('turn/interrupt', { threadId: thread.id, turnId: turn.id });
    turns.push(await heddle.turnCompleted(turn.id));
  }
  return { threadId: thread.id, turns, commands, marks };
}

test(
  'the worker of the store ends: no thread is stuck, nothing is lost or doubled, and no end of a turn changes',
  async () => {
    const where = place({ 'config.toml': CONFIG });
    const ends = workerEnds(20);
    const { executable, ended } = layOut('store', { count: ends, messagesMax: 40 });
    const heddle = await startHeddle(where, { executable, errorsLogged: true });
    const isOver = () => ended() >= ends;
    const all = await Promise.all(
      Array.from({ length: THREADS }, (_, number) => work(heddle, where, { number, isOver })),
    );
    for (const { threadId } of all)
      expect((await heddle.turn(threadId, 'say after')).status).toBe('completed');
    const check = async (server: HeddleProcess) => {
      for (const { threadId, turns } of all) {
        const read = (await readTurns(server, threadId)).slice(0, -1);
        expect(read.map(({ id, status, error }) => ({ id, status, error }))).toEqual(
          turns.map(({ id, status, error }) => ({ id, status, error })),
        );
        for (const { id, items } of read) {
          const announced = announcedItems(heddle, id);
          expect(items.filter((item) => announced.some((other) => other.id === item.id))).toEqual(
            announced,
          );
          expect(new Set(items.map((item) => item.id)).size).toBe(items.length);
        }
      }
    };
    await check(heddle);
    for (const { commands, marks } of all)
      if (commands > 0)
        expect(readFileSync(marks, 'utf8')).toBe(
          Array.from({ length: commands }, (_, index) => `${index + 1}\n`).join(''),
        );
    expect(all.flatMap(({ turns }) => turns).filter(({ status }) => status === 'failed')).toEqual(
      [],
    );
    expect(await heddle.finish()).toMatchObject({ code: 0 });
    await check(await startHeddle(where));
  },
  MS_MAX,
);

/** What is asked of a worker again and again. Returns whether it was done. */
type Ask = (heddle: HeddleProcess, where: { cwd: string; threadId: string }) => Promise<boolean>;

const ASKS: [worker: WorkerName, messagesMax: number, ask: Ask][] = [
  [
    'search',
    8,
    async (heddle, { cwd }) =>
      isDone(heddle.ask('fuzzyFileSearch', { query: 'fetch', roots: [cwd] })),
  ],
  [
    'mcp',
    30,
    async (heddle, { threadId }) => {
      const call = { threadId, server: 'ex', tool: 'echo', arguments: { message: 'm' } };
      if (await isDone(heddle.ask('mcpServer/tool/call', call))) return true;
      // A server whose connection was lost is started again after a wait, or at once if a person
      // asks for it.
      await heddle.request('config/mcpServer/reload', undefined);
      return false;
    },
  ],
  [
    'proxies',
    12,
    async (heddle, { threadId }) => {
      const cmd = `${process.execPath} fetch.cjs`;
      const turn = await heddle.turn(
        threadId,
        `call exec_command ${JSON.stringify({ cmd })}\nsay Done.`,
      );
      expect(turn.status).toBe('completed');
      return JSON.stringify(announcedItems(heddle, turn.id)).includes('status 403');
    },
  ],
  [
    'toml-editor',
    2,
    async (heddle) =>
      isDone(
        heddle.ask('config/value/write', {
          keyPath: 'model',
          value: 'other',
          mergeStrategy: 'replace',
        }),
      ),
  ],
];

async function isDone(answer: Promise<{ error?: unknown }>): Promise<boolean> {
  return (await answer).error === undefined;
}

test.each(ASKS)(
  'the worker %s ends: every request is answered, and the next worker does what the last one did',
  async (worker, messagesMax, ask) => {
    const where = place({ 'config.toml': CONFIG });
    writeFiles(where.work, { 'fetch.cjs': FETCH_DENIED });
    const ends = workerEnds(5);
    const { executable, ended } = layOut(worker, { count: ends, messagesMax });
    const heddle = await startHeddle(where, { executable, errorsLogged: true });
    const threads = [1, 2, 3].map(
      async () => (await heddle.request('thread/start', { cwd: where.work })).thread.id,
    );
    const use = async (threadId: string) => {
      while (ended() < ends) await ask(heddle, { cwd: where.work, threadId });
    };
    await Promise.all((await Promise.all(threads)).map(use));
    for (const threadId of await Promise.all(threads))
      await expect
        .poll(() => ask(heddle, { cwd: where.work, threadId }), { timeout: 60_000 })
        .toBe(true);
    expect(await heddle.finish()).toMatchObject({ code: 0 });
  },
  MS_MAX,
);
