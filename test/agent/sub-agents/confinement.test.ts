import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import type { ThreadSettings } from '../../../src/store/thread-record.ts';
import { functionCall, response } from '../../support/test-model.ts';
import { agentOf } from './agents-model.ts';
import {
  type AgentsServer,
  configWith,
  done,
  ROOT,
  spawn,
  wait,
  withAgents,
} from './agents-server.ts';

const send = (request: ModelRequest, callId = 'send') =>
  response(
    functionCall('send_input', { target: agentOf(request, 'spawn'), message: 'go on' }, { callId }),
  );

function agentId({ client }: AgentsServer): string {
  return (
    client.notifications('thread/started').find(({ thread }) => thread.parentThreadId === ROOT)
      ?.thread.id ?? ''
  );
}

async function settingsOf(
  server: AgentsServer,
  threadId = agentId(server),
): Promise<ThreadSettings | undefined> {
  return (await server.store.getThread(threadId))?.settings;
}

const developerText = (request: ModelRequest | undefined) =>
  JSON.stringify(
    request?.input.filter((item) => item.type === 'message' && item.role === 'developer'),
  );

/**
 * A thread that starts an agent of the role `own`, with these settings of the role, and the first
 * requests of both.
 */
async function withRole(role: string, { config = '', defaults = '', thread = {} } = {}) {
  const server = await withAgents(
    {
      root: [spawn({ message: 'child: x', agent_type: 'own' }), (request) => wait(request), done],
      child: [done],
    },
    {
      config: configWith(`${config}\n${role}`).replace(/^/, defaults),
      thread: { sandbox: 'workspace-write', ...thread },
    },
  );
  await server.client.turn(ROOT, 'root: go');
  return { ...server, root: server.agents.of('root')[0], child: server.agents.of('child')[0] };
}

const DIRECT = '[sandbox_workspace_write]\nnetwork_access = true';

test('a role cannot give its agents the network without the proxy that the thread has', async () => {
  const config = `[features]\nnetwork_proxy = true\n${DIRECT}`;
  const { root, child, client } = await withRole('[agents.own.features]\nnetwork_proxy = false', {
    config,
  });
  expect(developerText(root)).toMatch(/proxy/);
  expect(developerText(child)).toMatch(/proxy/);
  expect(client.notifications('configWarning').map(({ summary }) => summary)).toContainEqual(
    expect.stringContaining('features.network_proxy has no effect in the role own'),
  );
});

test('a role can give its agents the proxy where the thread has the network directly', async () => {
  const { root, child, client } = await withRole('[agents.own.features]\nnetwork_proxy = true', {
    config: DIRECT,
  });
  expect(developerText(root)).not.toMatch(/proxy/);
  expect(developerText(child)).toMatch(/proxy/);
  expect(client.notifications('configWarning')).toEqual([]);
});

test('the network limits of the permission profile hold for an agent whose role has a narrower sandbox', async () => {
  const config = [
    '[permissions.limited]\nextends = ":workspace"',
    '[permissions.limited.network]\nenabled = true',
    '[permissions.limited.network.domains]\n"example.com" = "allow"',
    DIRECT,
  ].join('\n');
  const role = '[agents.own]\nsandbox_mode = "read-only"';
  const server = await withRole(role, {
    config,
    defaults: 'default_permissions = "limited"\n',
    thread: { sandbox: null },
  });
  expect(developerText(server.root)).toMatch(/example\.com/);
  const settings = await settingsOf(server);
  expect(settings).toMatchObject({
    sandboxPolicy: { type: 'readOnly' },
    permissionProfile: { id: 'limited' },
  });
});

test('a role cannot give tools that the thread does not have', async () => {
  const role =
    '[agents.own]\n[agents.own.features]\nshell_tool = true\n[agents.own.tools]\nview_image = false';
  const { root, child } = await withRole(role, { config: '[features]\nshell_tool = false' });
  const names = (request: ModelRequest | undefined) => request?.tools.map(({ name }) => name);
  expect(names(root)).toContain('view_image');
  expect(names(child)).not.toContain('exec_command');
  expect(names(child)).not.toContain('view_image');
});

/**
 * A root that starts an agent in its first turn, and sends it input in its second. The second turn
 * has these settings.
 */
async function movedRoot(second: object, thread: object = { sandbox: 'workspace-write' }) {
  const server = await withAgents(
    {
      root: [
        spawn({ message: 'child: x' }),
        (request) => wait(request),
        done,
        (request) => send(request),
        (request) => wait(request),
        done,
      ],
      child: [done, done, done],
    },
    { thread },
  );
  await server.client.turn(ROOT, 'root: go');
  const child = agentId(server);
  return { ...server, child, second: () => server.client.turn(ROOT, 'two', second) };
}

const WRITE = {
  type: 'workspaceWrite' as const,
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: true,
  excludeSlashTmp: true,
};

test('an agent cannot write in a folder that its parent has left', async () => {
  const server = await movedRoot({ cwd: '/usr/share', sandboxPolicy: WRITE });
  await server.second();
  const { cwd, sandboxPolicy } = (await settingsOf(server)) ?? {};
  expect({ cwd, sandboxPolicy }).toEqual({
    cwd: '/usr/share',
    sandboxPolicy: expect.objectContaining({ writableRoots: [] }),
  });
});

test('an agent cannot read a folder that its parent cannot read', async () => {
  const access = {
    type: 'restricted' as const,
    readableRoots: ['/usr/lib'],
    includePlatformDefaults: false,
  };
  const server = await movedRoot({
    cwd: '/usr/share',
    sandboxPolicy: { type: 'readOnly', access },
  });
  await server.second();
  expect(await settingsOf(server)).toMatchObject({
    cwd: '/usr/share',
    sandboxPolicy: { type: 'readOnly' },
  });
});

test('an agent stays in a folder in which its parent can write, or in any if a folder gives no permission', async () => {
  const server = await movedRoot({});
  const root = (await settingsOf(server, ROOT))?.cwd ?? '';
  const own = join(root, 'own');
  await mkdir(own);
  await server.client.turn(server.child, 'move', { cwd: own });
  await server.second();
  expect(await settingsOf(server)).toMatchObject({ cwd: own });
  server.agents.push(
    'root',
    ...[send, wait].map((call) => (request: ModelRequest) => call(request)),
    done,
  );
  await server.client.turn(ROOT, 'three', {
    cwd: '/usr/share',
    sandboxPolicy: { type: 'readOnly', networkAccess: false },
  });
  expect(await settingsOf(server)).toMatchObject({ cwd: own, sandboxPolicy: { type: 'readOnly' } });
});

test('agents only explore while the thread that they work for is in plan mode', async () => {
  const server = await withAgents(
    {
      root: [
        spawn({ message: 'child: x', agent_type: 'worker' }),
        (request) => wait(request),
        done,
      ],
      child: [done, done, done],
    },
    { thread: { sandbox: 'workspace-write' } },
  );
  const mode = (name: 'plan' | 'default') => ({
    collaborationMode: { mode: name, settings: { model: 'test-model' } },
  });
  await server.client.turn(ROOT, 'root: go', mode('plan'));
  expect(developerText(server.agents.of('child')[0])).toContain(
    'explore only, whatever your task says',
  );
  expect(await settingsOf(server)).toMatchObject({
    collaborationMode: { mode: 'plan' },
    sandboxPolicy: { type: 'workspaceWrite' },
  });
  for (const [name, text] of [
    ['default', 'null'],
    ['plan', expect.stringContaining('explore only')],
  ] as const) {
    server.agents.push(
      'root',
      ...[send, wait].map((call) => (request: ModelRequest) => call(request)),
      done,
    );
    await server.client.turn(ROOT, 'again', mode(name));
    const { collaborationMode } = (await settingsOf(server)) ?? {};
    expect(collaborationMode).toMatchObject({
      mode: name,
      settings: { developer_instructions: text === 'null' ? null : text },
    });
  }
});

test('an agent that a client has put into plan mode stays in it', async () => {
  const server = await movedRoot({});
  const plan = { mode: 'plan' as const, settings: { model: 'test-model' } };
  await server.client.turn(server.child, 'plan', { collaborationMode: plan });
  await server.second();
  expect(await settingsOf(server)).toMatchObject({
    collaborationMode: { mode: 'plan', settings: { developer_instructions: null } },
  });
});

test('an agent does not work in a folder that is protected from its parent', async () => {
  const server = await movedRoot({});
  const root = (await settingsOf(server, ROOT))?.cwd ?? '';
  const git = join(root, '.git', 'hooks');
  await mkdir(git, { recursive: true });
  await server.client.turn(server.child, 'move', { cwd: git });
  await server.second();
  expect(await settingsOf(server)).toMatchObject({ cwd: root });
});
