import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TurnStartParams } from '../../src/protocol/generated/types.ts';
import { answer, callThenEnd, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { text } from '../support/test-client.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const METHOD = 'item/permissions/requestApproval';
const OVERRIDES = ['features.request_permissions_tool=true', 'sandbox_mode="workspace-write"'];
const REFUSED = { permissions: { network: null, file_system: null }, scope: 'turn' };
const MALFORMED = {
  ...REFUSED,
  note: expect.stringMatching(/counts as a refusal: the answer is malformed: /),
};

type Asking = TestServer & { turnId: string };

async function asking(args: object, overrides: Partial<TurnStartParams> = {}): Promise<Asking> {
  const model = new TestModel(...callThenEnd('request_permissions', args));
  const server = await startServer({
    model,
    overrides: OVERRIDES,
    env: { HOME: '/home/somebody' },
  });
  mkdirSync(join(server.folder, 'shared'));
  mkdirSync(join(server.cwd, 'dir'));
  symlinkSync(join(server.folder, 'shared'), join(server.cwd, 'link'));
  symlinkSync(join(server.folder, 'not-yet'), join(server.cwd, 'dangling'));
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
    ...overrides,
  });
  return { ...server, turnId: turn.id };
}

function callOutput({ model }: TestServer): string {
  const output = model.request(2).input.find((item) => item.type === 'function_call_output');
  const body = output?.type === 'function_call_output' ? output.output : null;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function entry(path: string, access: 'read' | 'write' | 'deny') {
  return { path: { type: 'path', path }, access };
}

async function answered(server: Asking, result: unknown): Promise<unknown> {
  answer(server.client, await question(server.client, METHOD), result);
  expect((await server.client.turnCompleted(server.turnId)).status).toBe('completed');
  return JSON.parse(callOutput(server));
}

test('the request has absolute paths with links resolved, and the model is told what was granted', async () => {
  const permissions = {
    file_system: {
      read: ['~/notes', 'link/x'],
      write: ['.', '../shared', 'dir/../new', 'dangling'],
    },
    network: { enabled: true },
  };
  const server = await asking({ reason: 'to build', permissions });
  const { client, cwd, folder, turnId } = server;
  const asked = await question(client, METHOD);
  const read = ['/home/somebody/notes', join(folder, 'shared', 'x')];
  const write = [cwd, join(folder, 'shared'), join(cwd, 'new'), join(folder, 'not-yet')];
  expect(asked.params).toEqual({
    threadId: idOf(1),
    turnId,
    itemId: 'call_1',
    environmentId: 'local',
    startedAtMs: server.clock.now(),
    cwd,
    reason: 'to build',
    permissions: {
      network: { enabled: true },
      fileSystem: {
        read,
        write,
        entries: [
          ...read.map((path) => entry(path, 'read')),
          ...write.map((path) => entry(path, 'write')),
        ],
      },
    },
  });
  expect((await client.request('thread/read', { threadId: idOf(1) })).thread.status).toEqual({
    type: 'active',
    activeFlags: ['waitingOnApproval'],
  });
  expect(
    await answered(server, { permissions: asked.params.permissions, scope: 'session' }),
  ).toEqual({
    permissions: { network: { enabled: true }, file_system: { read, write } },
    scope: 'session',
  });
});

const ASK = { permissions: { file_system: { read: ['dir'], write: ['../shared'] } } };

test('an answer grants at most what was asked for', async () => {
  const server = await asking(ASK);
  const { cwd, folder } = server;
  const shared = join(folder, 'shared');
  const write = [
    join(shared, 'sub'),
    join(shared, '..', 'other'),
    '/',
    `${shared}-too`,
    join(cwd, 'dir'),
    'shared',
    join(cwd, 'link', 'in'),
  ];
  const result = {
    permissions: {
      network: { enabled: true },
      fileSystem: {
        read: ['/etc', join(shared, 'r')],
        write,
        entries: [
          entry('/root', 'write'),
          entry(join(cwd, 'dir', 'a'), 'read'),
          entry(shared, 'deny'),
        ],
      },
    },
  };
  expect(await answered(server, result)).toEqual({
    permissions: {
      network: null,
      file_system: {
        read: [join(shared, 'r'), join(cwd, 'dir', 'a')],
        write: [join(shared, 'sub'), join(shared, 'in')],
      },
    },
    scope: 'turn',
  });
});

test.each([
  ['nothing', { permissions: {}, scope: 'session' }, { ...REFUSED, scope: 'session' }],
  [
    'nulls',
    { permissions: { network: null, fileSystem: null }, scope: null, strictAutoReview: null },
    REFUSED,
  ],
  [
    'a scope that there is not',
    { permissions: { network: { enabled: true } }, scope: 'always' },
    MALFORMED,
  ],
  ['no permissions', {}, MALFORMED],
  ['no object', 7, MALFORMED],
])('an answer of %s grants nothing', async (_, result, expected) => {
  const server = await asking({ permissions: { network: { enabled: true } } });
  expect(await answered(server, result)).toEqual(expected);
});

test.each<[string, Partial<TurnStartParams>]>([
  ['never', { approvalPolicy: 'never' }],
  [
    'granular',
    {
      approvalPolicy: {
        granular: {
          sandbox_approval: true,
          rules: true,
          mcp_elicitations: true,
          request_permissions: false,
        },
      },
    },
  ],
])('the policy %s refuses without asking', async (_, overrides) => {
  const server = await asking(ASK, overrides);
  await server.client.turnCompleted(server.turnId);
  expect(JSON.parse(callOutput(server))).toEqual({
    ...REFUSED,
    note: expect.stringMatching(/^Refused: the approval policy/),
  });
  expect(server.client.messages.filter(({ method }) => method === METHOD)).toEqual([]);
});

test.each<[string, object, RegExp]>([
  ['nothing', { permissions: {} }, /at least one permission/],
  ['no permissions', {}, /needs `permissions`/],
  ['no network', { permissions: { network: { enabled: false } } }, /at least one permission/],
  ['no paths', { permissions: { file_system: { write: [7] } } }, /lists of paths/],
  [
    'too much',
    {
      permissions: { file_system: { read: Array.from({ length: 65 }, (_, index) => `${index}`) } },
    },
    /at most 64 paths/,
  ],
  [
    'a protected path',
    { permissions: { file_system: { write: ['dir/.git/hooks'] } } },
    /\.git is protected/,
  ],
  [
    "the server's files",
    { permissions: { file_system: { write: ['../home/config.toml'] } } },
    /server's home/,
  ],
  ['the home', { permissions: { file_system: { write: ['../home'] } } }, /server's home/],
])('the model is told what is wrong when it asks for %s', async (_, args, problem) => {
  const server = await asking(args);
  await server.client.turnCompleted(server.turnId);
  expect(callOutput(server)).toMatch(problem);
  expect(server.client.messages.filter(({ method }) => method === METHOD)).toEqual([]);
});

test('the next turn names the permissions of the session, and not those of the last turn', async () => {
  for (const [scope, isTold] of [
    ['session', true],
    ['turn', false],
  ] as const) {
    const server = await asking(ASK);
    const { params } = await question(server.client, METHOD);
    await answered(server, { permissions: params.permissions, scope });
    server.model.push(response(message('again')));
    await server.client.turn(idOf(1), 'more');
    const texts = server.model
      .request(3)
      .input.flatMap((item) =>
        item.type === 'message' && item.role === 'developer' ? item.content : [],
      );
    expect(
      texts.some(
        (part) =>
          'text' in part && part.text.includes(`this session: to read ${join(server.cwd, 'dir')}`),
      ),
    ).toBe(isTold);
    await server.close();
  }
});

test('without the feature the tool does not exist', async () => {
  const server = await startServer({ model: new TestModel(response(message('ok'))) });
  await server.client.request('thread/start', {});
  await server.client.turn(idOf(1), 'go');
  expect(server.model.request(1).tools.map(({ name }) => name)).not.toContain(
    'request_permissions',
  );
});

test('an answer grants no protected path, even below a path that was asked for', async () => {
  const server = await asking({ permissions: { file_system: { write: ['..'] } } });
  const write = [
    join(server.cwd, '.git'),
    join(server.home, 'rules'),
    server.home,
    join(server.folder, 'shared'),
  ];
  expect(await answered(server, { permissions: { fileSystem: { write } } })).toEqual({
    permissions: { network: null, file_system: { write: [join(server.folder, 'shared')] } },
    scope: 'turn',
  });
});
