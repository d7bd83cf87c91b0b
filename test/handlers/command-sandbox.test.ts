import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type {
  CommandExecParams,
  ReadOnlyAccess,
  SandboxPolicy,
} from '../../src/protocol/generated/types.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

/** Neither `/tmp`, which contains the test's folders, nor `$TMPDIR` is writable. */
const WRITE = { type: 'workspaceWrite', excludeSlashTmp: true, excludeTmpdirEnvVar: true } as const;
const RESTRICTED: ReadOnlyAccess = {
  type: 'restricted',
  readableRoots: [],
  includePlatformDefaults: true,
};
const CONFIG = `model = "test-model"
model_provider = "test"
sandbox_mode = "workspace-write"
[model_providers.test]
base_url = "http://127.0.0.1:9"
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
`;
const FILES = {
  'outside/file': 'outside',
  'outside/sub/file': 'outside',
  'work/sub/file': 'inside',
  'work/.git/HEAD': 'head',
};

async function execIn(server: TestServer, cwd: string, params: Partial<CommandExecParams> = {}) {
  const written = join(server.folder, cwd, 'written');
  const ran = await server.client.request('command/exec', {
    command: ['sh', '-c', 'cat file; touch written'],
    cwd: join(written, '..'),
    ...params,
  });
  return { stdout: ran.stdout, written: existsSync(written) };
}

test('the working directory of command/exec is writable only if it is in the workspace, or the policy names it', async () => {
  const server = await startServer({ config: CONFIG, files: FILES });
  const outside = join(server.folder, 'outside');
  expect(await execIn(server, 'work/sub')).toEqual({ stdout: 'inside', written: true });
  const beside = { command: ['sh', '-c', 'cat file; touch ../written'] };
  expect(await execIn(server, 'work/sub', beside)).toMatchObject({ stdout: 'inside' });
  expect(existsSync(join(server.cwd, 'written'))).toBe(false);
  expect(await execIn(server, 'outside')).toEqual({ stdout: 'outside', written: false });
  expect(await execIn(server, 'outside', { sandboxPolicy: WRITE })).toEqual({
    stdout: 'outside',
    written: false,
  });
  expect(await execIn(server, 'outside', { permissionProfile: ':read-only' })).toEqual({
    stdout: 'outside',
    written: false,
  });
  const named = { ...WRITE, writableRoots: [join(outside, 'sub')] };
  expect(await execIn(server, 'outside', { sandboxPolicy: named })).toEqual({
    stdout: 'outside',
    written: false,
  });
  expect(await execIn(server, 'outside/sub', { sandboxPolicy: named })).toEqual({
    stdout: 'outside',
    written: true,
  });
  expect(
    await execIn(server, 'outside', { sandboxPolicy: { ...WRITE, writableRoots: [outside] } }),
  ).toMatchObject({ written: true });
});

test('if the home is the workspace, a command cannot create the file of a profile in it', async () => {
  const config = `profile = "work"\n${CONFIG}[profiles.work]\nmodel = "m"\n[profiles.other]\nmodel = "m"\n`;
  const { client, home } = await startServer({ config, files: FILES });
  const names = [
    'work.config.toml',
    'other.config.toml',
    'hooks.json',
    'heddle-mcp.credentials.json',
    'notes',
  ];
  const command = ['sh', '-c', names.map((name) => `echo x > ${name}; `).join('')];
  await client.request('command/exec', {
    command,
    cwd: home,
    sandboxPolicy: { ...WRITE, writableRoots: [home] },
  });
  expect(names.filter((name) => existsSync(join(home, name)))).toEqual(['notes']);
});

test('the error of a refused write is that of the system', async () => {
  const server = await startServer({ config: CONFIG, files: FILES });
  const command = ['sh', '-c', 'LC_ALL=C touch written'];
  const ran = await server.client.request('command/exec', {
    command,
    cwd: join(server.folder, 'outside'),
  });
  expect(ran).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('Read-only file system'),
  });
});

test('the workspace is a place, not a path: a link out of it, and its protected folders, are not writable', async () => {
  const server = await startServer({ config: CONFIG, files: FILES });
  symlinkSync(join(server.folder, 'outside'), join(server.cwd, 'link'));
  symlinkSync(join(server.cwd, 'sub'), join(server.folder, 'outside', 'back'));
  expect(await execIn(server, 'work/link')).toEqual({ stdout: 'outside', written: false });
  expect(await execIn(server, 'outside/back')).toEqual({ stdout: 'inside', written: true });
  mkdirSync(join(server.cwd, '.git', 'hooks'));
  for (const folder of ['work/.git', 'work/.git/hooks'])
    expect((await execIn(server, folder)).written).toBe(false);
});

test('with restricted reads, the working directory can be read wherever it is', async () => {
  const server = await startServer({ config: CONFIG, files: FILES });
  symlinkSync(join(server.folder, 'outside'), join(server.folder, 'link'));
  const policies: SandboxPolicy[] = [
    { ...WRITE, readOnlyAccess: RESTRICTED },
    { type: 'readOnly', access: RESTRICTED },
  ];
  for (const sandboxPolicy of policies)
    for (const cwd of ['outside', 'link'])
      expect(await execIn(server, cwd, { sandboxPolicy })).toEqual({
        stdout: 'outside',
        written: false,
      });
});

test('command/exec uses unix sockets only if the configuration allows it', async () => {
  const command = ['python3', '-c', 'import socket; socket.socket(socket.AF_UNIX)'];
  const allowed = async (config: string, params: Partial<CommandExecParams> = {}) => {
    const { client } = await startServer({ config });
    return (await client.request('command/exec', { command, ...params })).exitCode === 0;
  };
  const profile =
    '[permissions.p]\nextends = ":workspace"\nnetwork = { dangerously_allow_all_unix_sockets = true }\n';
  const network = { sandboxPolicy: { ...WRITE, networkAccess: true } };
  expect(await allowed(CONFIG)).toBe(false);
  expect(await allowed(CONFIG, network)).toBe(false);
  expect(await allowed(`${CONFIG}unix_sockets = true\n`)).toBe(true);
  expect(await allowed(`${CONFIG}unix_sockets = true\n`, network)).toBe(true);
  expect(await allowed(`${CONFIG}unix_sockets = true\n`, { permissionProfile: ':workspace' })).toBe(
    false,
  );
  expect(await allowed(`${CONFIG}${profile}`, { permissionProfile: 'p' })).toBe(true);
});
