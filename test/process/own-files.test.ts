// @module-tag slow
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { text } from '../support/test-client.ts';
import {
  EXECUTABLE,
  environment,
  type HeddleProcess,
  type Place,
  patchPrompt,
  place,
  startHeddle,
} from './support.ts';

const CONFIG = {
  'config.toml': 'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n',
};
const ENDS = ['heddle.db', 'heddle.db-wal', 'heddle.db-shm', '.lock'];

interface Running {
  heddle: HeddleProcess;
  where: Place;
  threadId: string;
}

/**
 * A server with its database open and a thread that it writes to, all work that it does by itself
 * done.
 */
async function running(config: Record<string, string> = CONFIG): Promise<Running> {
  const where = place(config);
  const heddle = await startHeddle(where);
  const { thread } = await heddle.request('thread/start', {});
  await heddle.turn(thread.id, 'say first');
  return { heddle, where, threadId: thread.id };
}

/**
 * The locks that a process holds on files of its store: only those that no transaction takes and
 * drops.
 */
function locksOf({ heddle, where }: Running): string[] {
  const names = new Map(ENDS.map((end) => [statSync(storeFile(where, end)).ino, end]));
  const lines = readFileSync('/proc/locks', 'latin1').split('\n');
  const locks = lines.map(
    (line) => /POSIX +ADVISORY +(\w+) (\d+) \w+:\w+:(\d+) (\d+)/.exec(line)?.slice(1) ?? [],
  );
  const own = locks.filter(
    ([, pid, inode]) => Number(pid) === heddle.pid && names.has(Number(inode)),
  );
  return own.map(([kind, , inode, start]) => `${names.get(Number(inode))} ${kind} ${start}`).sort();
}

/** All that a server with a writer holds for good. */
const LASTING = ['.lock WRITE 1073741824', 'heddle.db READ 1073741826', 'heddle.db-shm READ 128'];

function storeFile({ home }: Place, end: string): string {
  if (end !== '.lock') return join(home, end);
  const [lock = ''] = readdirSync(join(home, 'heddle-writers'));
  return join(home, 'heddle-writers', lock);
}

/** The descriptor by which the server has the file open. */
function ownDescriptor(pid: number, file: string): string {
  const isFile = (name: string) => readlinkSync(`/proc/${pid}/fd/${name}`) === file;
  return readdirSync(`/proc/${pid}/fd`).find(isFile) ?? 'none';
}

let links = 0;
const linkTo =
  (make: (target: string, path: string) => void) =>
  (file: string, { work }: Place) => {
    links += 1;
    const path = join(work, `link-${links}`);
    make(file, path);
    return path;
  };
type Spelling = (file: string, where: Place, pid: number) => string;
const SPELLINGS: Record<string, Spelling> = {
  'its own path': (file) => file,
  'a path with ..': (file, { work }) =>
    `${work}/../${basename(dirname(work)) === '' ? '' : relative(dirname(work), file)}`,
  'a hard link': linkTo(linkSync),
  'a symbolic link': linkTo(symlinkSync),
  'a link to a link': linkTo((file, path) => {
    symlinkSync(file, `${path}-1`);
    symlinkSync(`${path}-1`, path);
  }),
  'a linked folder': (file, { work }) =>
    join(linkTo(symlinkSync)(dirname(file), { work } as Place), basename(file)),
  "the server's own descriptor": (file, _where, pid) => `/proc/self/fd/${ownDescriptor(pid, file)}`,
  'other letters': (file) => join(dirname(file), basename(file).toUpperCase()),
};

type Use = (running: Running, path: string) => Promise<unknown>;
/** All ways by which a client or a model can have the server use a file. */
const USES: Record<string, Use> = {
  'fs/readFile': ({ heddle }, path) => heddle.ask('fs/readFile', { path }),
  'fs/writeFile': ({ heddle }, path) => heddle.ask('fs/writeFile', { path, dataBase64: 'eA==' }),
  'fs/copy from it': ({ heddle, where }, sourcePath) =>
    heddle.ask('fs/copy', { sourcePath, destinationPath: join(where.work, `copy-${links++}`) }),
  'fs/copy onto it': ({ heddle, where }, destinationPath) =>
    heddle.ask('fs/copy', { sourcePath: aFile(where), destinationPath }),
  'fs/copy of a link onto it': ({ heddle, where }, destinationPath) =>
    heddle.ask('fs/copy', { sourcePath: linkTo(symlinkSync)('/nowhere', where), destinationPath }),
  'fs/getMetadata': ({ heddle }, path) => heddle.ask('fs/getMetadata', { path }),
  async 'fs/watch'({ heddle }, path) {
    await heddle.ask('fs/watch', { watchId: 'w', path });
    await heddle.ask('fs/unwatch', { watchId: 'w' });
  },
  'thread/resume by path': ({ heddle }, path) =>
    heddle.ask('thread/resume', { threadId: '', path }),
  'thread/fork by path': ({ heddle }, path) => heddle.ask('thread/fork', { threadId: '', path }),
  'a local image': ({ heddle, threadId }, path) =>
    heddle.turn(threadId, [...text('say seen'), { type: 'localImage', path }]),
  view_image: ({ heddle, threadId }, path) =>
    heddle.turn(threadId, `call view_image ${JSON.stringify({ path })}`),
  'a patch that updates it': ({ heddle, threadId }, path) =>
    heddle.turn(threadId, patchPrompt(`*** Update File: ${path}`, '@@', '-a', '+b')),
  'a patch that adds it': ({ heddle, threadId }, path) =>
    heddle.turn(threadId, patchPrompt(`*** Add File: ${path}`, '+b')),
  'a patch that moves a file onto it': ({ heddle, threadId, where }, path) =>
    heddle.turn(
      threadId,
      patchPrompt(`*** Update File: ${aFile(where)}`, `*** Move to: ${path}`, '@@', '-a', '+b'),
    ),
  'a patch that deletes it': ({ heddle, threadId }, path) =>
    heddle.turn(threadId, patchPrompt(`*** Delete File: ${path}`)),
  'fs/remove': ({ heddle }, path) => heddle.ask('fs/remove', { path }),
};

function aFile({ work }: Place): string {
  links += 1;
  const path = join(work, `file-${links}`);
  writeFileSync(path, 'a\n');
  return path;
}

const filesOf = (where: Place) => ENDS.map((end) => statSync(storeFile(where, end)).ino);

/** Uses each file by each spelling. Expects that the server keeps its locks and its files. */
async function useAll(server: Running, use: Use, ends = ENDS): Promise<void> {
  const before = filesOf(server.where);
  for (const end of ends) {
    for (const [name, spell] of Object.entries(SPELLINGS)) {
      const path = spell(storeFile(server.where, end), server.where, server.heddle.pid);
      await use(server, path);
      expect({ end, name, locks: locksOf(server) }).toEqual({
        end,
        name,
        locks: expect.arrayContaining(LASTING),
      });
      // The name in other letters is a file of its own.
      if (name === 'other letters') rmSync(path, { force: true });
    }
  }
  expect(filesOf(server.where)).toEqual(before);
}

describe("a file of the store is used by nobody, whatever it is called, and the server's locks stay:", () => {
  test.each(Object.keys(USES))('%s', async (name) => {
    const server = await running();
    await vi.waitFor(() => expect(locksOf(server)).toEqual(expect.arrayContaining(LASTING)), {
      timeout: 30_000,
    });
    await useAll(server, USES[name] as Use);
    const { heddle, threadId, where } = server;
    expect(await heddle.turn(threadId, 'say last')).toMatchObject({
      status: 'completed',
      items: [{ text: 'last' }],
    });
    await heddle.finish();
    const next = await startHeddle(where);
    expect(
      (await next.request('thread/read', { threadId, includeTurns: true })).thread.turns.at(-1),
    ).toMatchObject({
      status: 'completed',
    });
  });
});

test('the refusal names the file, and says how to read threads and to make a copy', async () => {
  const server = await running();
  const { heddle, where, threadId } = server;
  const file = join(where.home, 'heddle.db');
  const path = linkTo(linkSync)(file, where);
  const message = `${path} is ${file}, which belongs to heddle's own store, and nothing else may use it: read threads with thread/list and thread/read, and make a copy with 'heddle store backup FILE'`;
  const refusal = { code: -32600, message, data: { code: 'store_file', path } };
  expect(await heddle.refusal('fs/readFile', { path })).toEqual(refusal);
  expect(await heddle.refusal('fs/writeFile', { path, dataBase64: '' })).toEqual(refusal);
  const into = join(where.work, 'copy');
  expect(
    await heddle.refusal('fs/copy', {
      sourcePath: where.home,
      destinationPath: into,
      recursive: true,
    }),
  ).toMatchObject({
    code: -32600,
    message: expect.stringMatching(/^\/[^ ]*home\/heddle[^ ]* belongs to heddle's own store/),
    data: { code: 'store_file' },
  });
  expect(existsSync(into)).toBe(false);
  for (const folder of [where.home, dirname(where.home)]) {
    expect(await heddle.refusal('fs/remove', { path: folder })).toMatchObject({
      code: -32600,
      data: { code: 'store_file', path: folder },
    });
  }
  expect(existsSync(join(where.home, 'config.toml'))).toBe(true);
  const turn = await heddle.turn(threadId, `call view_image ${JSON.stringify({ path })}`);
  expect(JSON.stringify(turn)).toContain("heddle's own store");
  // A hard link is a name like any other, and goes.
  await heddle.request('fs/remove', { path });
  expect(existsSync(path)).toBe(false);
  expect(locksOf(server)).toEqual(expect.arrayContaining(LASTING));
});

describe('a link to a file of the store in place of', () => {
  test.each<[string, (where: Place) => string]>([
    ['AGENTS.md of the workspace', ({ work }) => join(work, 'AGENTS.md')],
    ['AGENTS.md of the home', ({ home }) => join(home, 'AGENTS.md')],
    ['config.toml', ({ home }) => join(home, 'config.toml')],
    ["the project's config.toml", ({ work }) => join(work, '.codex', 'config.toml')],
    ['a rules file', ({ home }) => join(home, 'rules', 'default.rules')],
    ['the accepted rules', ({ home }) => join(home, 'rules', 'heddle-accepted.jsonl')],
    ['the record of trusted files', ({ home }) => join(home, 'heddle-trust.jsonl')],
    ['a skill', ({ home }) => join(home, 'skills', 'one', 'SKILL.md')],
    ['.git', ({ work }) => join(work, '.git')],
    ['HEAD', ({ work }) => join(work, '.git', 'HEAD')],
    ["git's config", ({ work }) => join(work, '.git', 'config')],
    ["git's index", ({ work }) => join(work, '.git', 'index')],
    ['.gitmodules', ({ work }) => join(work, '.gitmodules')],
    ['the names of rollouts', ({ home }) => join(home, 'session_index.jsonl')],
  ])('%s drops no lock', { timeout: 30_000 }, async (_what, at) => {
    const server = await running();
    const { heddle, where } = server;
    for (const make of [linkSync, symlinkSync]) {
      const path = at(where);
      rmSync(path, { force: true });
      mkdirSync(dirname(path), { recursive: true });
      make(join(where.home, 'heddle.db'), path);
      await heddle.ask('thread/start', {});
      await heddle.ask('config/read', {});
      await heddle.ask('skills/list', {});
      await heddle.ask('command/exec', {
        command: ['true'],
        sandboxPolicy: { type: 'workspaceWrite' },
      });
      await heddle.ask('thread/resume', { threadId: '', path: aFile(where) });
      expect(locksOf(server)).toEqual(expect.arrayContaining(LASTING));
    }
  });
});

test.each(['--log-file', '--wire-log'])('%s does not write into the store', async (option) => {
  const { heddle, where } = await running();
  await heddle.finish();
  const before = readFileSync(join(where.home, 'heddle.db'));
  for (const spell of ['its own path', 'a hard link', 'a symbolic link']) {
    const path = SPELLINGS[spell]?.(join(where.home, 'heddle.db'), where, 0) ?? '';
    const { status, stderr } = spawnSync(process.execPath, [EXECUTABLE, option, path], {
      env: environment(where),
      input: '',
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining("belongs to heddle's own store"),
    });
  }
  expect(readFileSync(join(where.home, 'heddle.db'))).toEqual(before);
});

test('no sequence of uses, by whatever names, drops a lock or a turn', {
  timeout: 120_000,
}, async () => {
  const server = await running();
  const step = fc.record({
    use: fc.constantFrom(...Object.keys(USES)),
    spelling: fc.constantFrom(...Object.keys(SPELLINGS)),
    end: fc.constantFrom(...ENDS),
  });
  let turns = 1;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
      const done = steps.map(async ({ use, spelling, end }) => {
        const path =
          SPELLINGS[spelling]?.(storeFile(server.where, end), server.where, server.heddle.pid) ??
          '';
        if (/image|patch/.test(use)) return;
        await USES[use]?.(server, path);
      });
      await Promise.all(done);
      for (const name of readdirSync(server.where.home))
        if (/^HEDDLE/.test(name)) rmSync(join(server.where.home, name));
      expect(locksOf(server)).toEqual(expect.arrayContaining(LASTING));
      expect(await server.heddle.turn(server.threadId, 'say on')).toMatchObject({
        status: 'completed',
      });
      turns += 1;
    }),
    { numRuns: 30, seed: 11 },
  );
  await server.heddle.finish();
  const next = await startHeddle(server.where);
  const { thread } = await next.request('thread/read', {
    threadId: server.threadId,
    includeTurns: true,
  });
  expect(thread.turns.map(({ status }) => status)).toEqual(Array(turns).fill('completed'));
});
