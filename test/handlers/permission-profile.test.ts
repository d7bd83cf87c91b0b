import { expect, test } from 'vitest';
import { message, response } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';

const BASE = `model = "test-model"
model_provider = "test"
[model_providers.test]
base_url = "http://127.0.0.1:9"
`;

const PROFILES = `
[permissions.dev]
description = "For work on this"
extends = ":workspace"
[permissions.dev.filesystem]
"/opt/cache" = "write"
[permissions.dev.network]
enabled = true
`;

const BUILT_IN = [':read-only', ':workspace', ':danger-full-access'].map((id) => ({
  id,
  description: null,
  allowed: true,
}));

const writes = (writableRoots: string[], given: object = {}) => ({
  type: 'workspaceWrite',
  writableRoots,
  networkAccess: false,
  excludeTmpdirEnvVar: true,
  excludeSlashTmp: true,
  ...given,
});

/** A configuration whose profile `p` has these entries. */
const withProfile = (entries: string, more = '') =>
  `${BASE}\n[permissions.p.filesystem]\n${entries}\n${more}`;

test('permissionProfile/list returns the built-in profiles and those of the configuration, in pages', async () => {
  const { client } = await startServer({
    config: `${BASE}[permissions.dev]\ndescription = "For work on this"\nextends = ":workspace"\n`,
  });
  const all = [...BUILT_IN, { id: 'dev', description: 'For work on this', allowed: true }];
  expect(await client.request('permissionProfile/list', {})).toEqual({
    data: all,
    nextCursor: null,
  });
  const first = await client.request('permissionProfile/list', { limit: 3 });
  expect(first).toEqual({ data: all.slice(0, 3), nextCursor: '3' });
  expect(
    await client.request('permissionProfile/list', { limit: 3, cursor: first.nextCursor }),
  ).toEqual({
    data: all.slice(3),
    nextCursor: null,
  });
  expect((await client.request('permissionProfile/list', { limit: 0 })).data).toEqual(
    all.slice(0, 1),
  );
  for (const cursor of ['x', '99', '-1'])
    expect(await client.refusal('permissionProfile/list', { cursor })).toEqual({
      code: -32600,
      message: `invalid cursor: ${cursor}`,
      data: { code: 'invalid_cursor' },
    });
});

test('a profile that cannot be enforced is listed as not allowed', async () => {
  const { client } = await startServer({
    config: withProfile('":workspace_roots" = "deny"', '[permissions.q]\nextends = "nobody"\n'),
  });
  expect((await client.request('permissionProfile/list', { cwd: '/' })).data.slice(3)).toEqual([
    { id: 'p', description: null, allowed: false },
    { id: 'q', description: null, allowed: false },
  ]);
});

test('responses name the profile of a thread: at its start, after a turn, a resume, a restart and a fork', async () => {
  const server = await startServer({ config: BASE });
  const { client, model, cwd } = server;
  const plain = await client.request('thread/start', { sandbox: 'workspace-write' });
  expect([plain.activePermissionProfile, plain.runtimeWorkspaceRoots]).toEqual([null, [cwd]]);
  const started = await client.request('thread/start', {
    permissions: ':workspace',
    runtimeWorkspaceRoots: ['/opt/more'],
  });
  const { id: threadId } = started.thread;
  const active = { id: ':workspace', extends: null };
  const sandbox = writes(['/opt/more'], { excludeTmpdirEnvVar: false, excludeSlashTmp: false });
  const expected = {
    activePermissionProfile: active,
    runtimeWorkspaceRoots: ['/opt/more'],
    sandbox,
  };
  expect(started).toMatchObject(expected);
  model.push(response(message('ok')));
  await client.turn(threadId, 'hi');
  expect(await client.request('thread/resume', { threadId })).toMatchObject(expected);
  expect(await client.request('thread/fork', { threadId })).toMatchObject(expected);
  model.push(response(message('ok')));
  await client.turn(threadId, 'hi', { permissions: ':read-only', runtimeWorkspaceRoots: [] });
  const readOnly = {
    activePermissionProfile: { id: ':read-only', extends: null },
    runtimeWorkspaceRoots: [cwd],
    sandbox: { type: 'readOnly' },
  };
  expect(await client.request('thread/resume', { threadId })).toMatchObject(readOnly);
  expect(client.notifications('thread/settings/updated').at(-1)?.threadSettings).toMatchObject({
    activePermissionProfile: { id: ':read-only', extends: null },
    sandboxPolicy: { type: 'readOnly' },
  });
  const next = await server.restart();
  expect(await next.client.request('thread/resume', { threadId })).toMatchObject(readOnly);
  model.push(response(message('ok')));
  await next.client.turn(threadId, 'hi', { sandboxPolicy: { type: 'dangerFullAccess' } });
  expect(
    (await next.client.request('thread/resume', { threadId })).activePermissionProfile,
  ).toBeNull();
});

test('the roots of a workspace are normalised, each once and in their order', async () => {
  const server = await startServer({ config: BASE });
  const { client, model } = server;
  const given = ['/opt/b/', '/opt/a/../b', '/opt/./a', '/opt//a', '/', '/opt/b/.'];
  const expected = { runtimeWorkspaceRoots: ['/opt/b', '/opt/a', '/'] };
  const shown = { ...expected, thread: { environments: [expected] } };
  const started = await client.request('thread/start', { runtimeWorkspaceRoots: given });
  expect(started).toMatchObject(shown);
  const { id: threadId } = started.thread;
  model.push(response(message('ok')));
  await client.turn(threadId, 'hi', { runtimeWorkspaceRoots: ['/opt/c/..'] });
  expect(await client.request('thread/resume', { threadId })).toMatchObject({
    runtimeWorkspaceRoots: ['/opt'],
  });
  expect(
    await client.request('thread/resume', { threadId, runtimeWorkspaceRoots: given }),
  ).toMatchObject(shown);
  expect(
    await client.request('thread/fork', { threadId, runtimeWorkspaceRoots: ['/a', '/b/', '/a/'] }),
  ).toMatchObject({
    runtimeWorkspaceRoots: ['/a', '/b'],
  });
  await client.request('thread/settings/update', {
    threadId,
    runtimeWorkspaceRoots: ['/x/y/..', '/x'],
  });
  expect(await client.request('thread/resume', { threadId })).toMatchObject({
    runtimeWorkspaceRoots: ['/x'],
  });
});

test('default_permissions names the profile of threads that name none, and is overridden by requests', async () => {
  const { client } = await startServer({
    config: `default_permissions = "dev"\nsandbox_mode = "read-only"\n${BASE}${PROFILES}`,
  });
  expect(await client.request('thread/start', {})).toMatchObject({
    sandbox: writes(['/opt/cache'], {
      networkAccess: true,
      excludeTmpdirEnvVar: false,
      excludeSlashTmp: false,
    }),
    activePermissionProfile: { id: 'dev', extends: ':workspace' },
  });
  expect(
    (await client.request('thread/start', { sandbox: 'read-only' })).activePermissionProfile,
  ).toBeNull();
  expect(
    (await client.request('thread/start', { config: { sandbox_mode: 'danger-full-access' } }))
      .sandbox,
  ).toEqual({
    type: 'dangerFullAccess',
  });
});

test.each<[string, string, object]>([
  ['":root" = "read"\n":workspace_roots" = "write"', '', writes([])],
  ['":root" = "read"\n":project_roots" = "write"\n"~/x" = "write"', '', writes(['/home/u/x'])],
  [
    '":root" = "read"',
    '[permissions.p.network]\nenabled = true',
    { type: 'readOnly', networkAccess: true },
  ],
  [
    '":root" = "read"',
    '[permissions.p.network]\nenabled = true\nmode = "limited"',
    { type: 'readOnly', networkAccess: true },
  ],
  ['":root" = "write"', '[permissions.p.network]\nenabled = true', { type: 'dangerFullAccess' }],
  ['":root" = "write"', '', writes(['/'])],
  [
    '":root" = "write"\n"/opt/**" = "deny"',
    '[permissions.p.network]\nenabled = true',
    writes(['/'], { networkAccess: true }),
  ],
  [
    '":root" = "read"\n"/opt/r/**" = "read"\n"~/.ssh" = "none"',
    '',
    { type: 'readOnly', networkAccess: false },
  ],
  [
    '":root" = "write"',
    '[permissions.p.network]\nenabled = true\nenable_socks5 = false',
    writes(['/'], { networkAccess: true }),
  ],
  [
    '":minimal" = "read"\n"/opt/r" = "read"\n":workspace_roots" = {"." = "write"}\n":tmpdir" = "write"\n"/opt" = {"w" = "write"}',
    '[permissions.p.workspace_roots]\n"/opt/more" = true\n"/opt/less" = false',
    writes(['/opt/w', '/opt/more'], {
      excludeTmpdirEnvVar: false,
      readOnlyAccess: {
        type: 'restricted',
        readableRoots: ['/opt/r', '/opt/w', '/opt/more'],
        includePlatformDefaults: true,
      },
    }),
  ],
  [
    '":workspace_roots" = "read"\n":slash_tmp" = "read"',
    '',
    {
      type: 'readOnly',
      networkAccess: false,
      access: { type: 'restricted', readableRoots: ['/tmp'], includePlatformDefaults: false },
    },
  ],
])('the profile %s %s is a sandbox policy', async (entries, more, policy) => {
  const { client } = await startServer({
    config: withProfile(entries, more),
    env: { HOME: '/home/u' },
  });
  const { sandbox, activePermissionProfile } = await client.request('thread/start', {
    permissions: 'p',
  });
  expect(sandbox).toEqual(policy);
  expect(activePermissionProfile).toEqual({ id: 'p', extends: null });
});

test.each([
  ['":slash_tmp" = "deny"', '', /cannot enforce this permission profile: it denies `:slash_tmp`/],
  [
    '":root" = "read"\n"/opt/x" = "deny"\n"/opt/x/y" = "read"',
    '',
    /it denies `\/opt\/x` but not `\/opt\/x\/y`/,
  ],
  ['":root" = "read"\n"/" = "deny"', '', /it denies `\/`/],
  [
    '":root" = "read"\n":workspace_roots" = {"." = "write", "docs" = "read"}',
    '',
    /it sets the access to `:workspace_roots\/docs` separately/,
  ],
  [
    '":root" = "read"\n"/opt/x" = "write"',
    '',
    /it allows commands to write `\/opt\/x` but not the workspace/,
  ],
  [
    '":workspace_roots" = "write"\n"/a" = "write"\n"/a/b" = "read"',
    '',
    /read but not to write `\/a\/b`/,
  ],
  [
    '"/opt/**/*.env" = "read"',
    '',
    /a pattern can only be denied: use an exact path, or one that ends with/,
  ],
  [
    '":root" = "read"\n":slash_tmp" = {"*.x" = "deny"}',
    '',
    /this pattern cannot be used: it is not below a folder/,
  ],
  [
    '":workspace_roots" = {"." = "write", "../**/*.env" = "deny"}',
    '',
    /expected a path without `\.` and `\.\.`/,
  ],
  [
    '":workspace_roots" = {"." = "write", "**/*.{env" = "deny"}',
    '',
    /this pattern cannot be used: a `\{` has no `\}`/,
  ],
  [
    '":workspace_roots" = {"." = "write", "[z-a].env" = "deny"}',
    '',
    /the range `z-a` ends before it begins/,
  ],
  [
    '":root" = "read"\n"/**/*.env" = "deny"',
    '',
    /it begins at the root of the file system.*`glob_scan_max_depth`/,
  ],
  [
    '":root" = "read"\nglob_scan_max_depth = 0',
    '',
    /glob_scan_max_depth.*expected a whole number, 1 or more/,
  ],

  ['"/opt/x" = "read"', '', /does not allow commands to read the workspace/],
  ['"rel" = "read"', '', /permissions\.p\.filesystem\.rel.*expected an absolute path/],
  ['":nowhere" = "read"', '', /unknown name, expected one of :root/],
  ['"/opt/x" = "execute"', '', /expected "read", "write", "deny"/],
  [
    '":root" = "read"',
    '[permissions.p.network.unix_sockets]\n"/run/x" = "allow"',
    /all unix sockets or none/,
  ],
  [
    '":root" = "read"',
    '[permissions.p.network]\nenabled = true\nmode = "open"',
    /permissions\.p\.network\.mode.*"full", "limited"/,
  ],
  [
    '":root" = "read"',
    '[permissions.p.network]\nmitm = true',
    /permissions\.p\.network\.mitm.*does not read what commands send/,
  ],
  [
    '":root" = "read"',
    '[permissions.p]\nextends = "q"\n[permissions.q.network.domains]\n"*" = "deny"',
    /permissions\.q\.network\.domains.*can only be allowed/,
  ],
  ['":root" = "read"', '[permissions.p.limits]\n', /unknown key, expected one of description/],
])('the profile %s %s is refused only if a thread uses it', async (entries, more, problem) => {
  const { client } = await startServer({ config: withProfile(entries, more) });
  const { code, message: text, data } = await client.refusal('thread/start', { permissions: 'p' });
  expect([code, data.code, text]).toEqual([
    -32600,
    'config_invalid',
    expect.stringMatching(problem),
  ]);
  await client.request('thread/start', {});
});

test('a profile that extends itself or an unknown profile is refused', async () => {
  const config = `${BASE}[permissions.a]\nextends = "b"\n[permissions.b]\nextends = "a"\n[permissions.c]\nextends = "nobody"\n`;
  const { client } = await startServer({ config });
  expect((await client.refusal('thread/start', { permissions: 'a' })).message).toMatch(
    /`a` extends itself/,
  );
  expect((await client.refusal('thread/start', { permissions: 'c' })).message).toMatch(
    /there is no permission profile `nobody`/,
  );
  expect(
    (await client.refusal('thread/start', { config: { default_permissions: 'nobody' } })).message,
  ).toMatch(/there is no permission profile `nobody`/);
});

test('a profile can extend 32 others, one through the other', async () => {
  const profiles = Array.from(
    { length: 33 },
    (_, index) =>
      `[permissions.p${index}]\nextends = "${index === 0 ? ':workspace' : `p${index - 1}`}"\n`,
  );
  const { client } = await startServer({ config: `${BASE}${profiles.join('')}` });
  expect(
    (await client.request('thread/start', { permissions: 'p31' })).activePermissionProfile,
  ).toMatchObject({ id: 'p31' });
  expect((await client.refusal('thread/start', { permissions: 'p32' })).message).toMatch(
    /a permission profile can extend at most 32 others/,
  );
});
