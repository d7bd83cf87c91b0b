import { expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { text } from '../../support/test-client.ts';
import { message, response } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

const WORKSPACE = {
  type: 'workspaceWrite',
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
};
const PROFILES = [
  [':read-only', { type: 'readOnly', networkAccess: false }],
  [':workspace', WORKSPACE],
  [':danger-full-access', { type: 'dangerFullAccess' }],
] as const;

test('a permission profile sets the sandbox policy of a thread, of a fork, of a turn and of the turns to come', async () => {
  const { client, model } = await startServer();
  const sandboxNow = async () =>
    (await client.request('thread/resume', { threadId: idOf(1), excludeTurns: true })).sandbox;
  for (const [permissions, policy] of PROFILES) {
    expect((await client.request('thread/start', { permissions })).sandbox).toEqual(policy);
    model.push(response(message('ok')));
    await client.turn(idOf(1), 'hi', { permissions });
    expect(await sandboxNow()).toEqual(policy);
    expect(
      (await client.request('thread/fork', { threadId: idOf(1), permissions })).sandbox,
    ).toEqual(policy);
  }
  await client.request('thread/settings/update', { threadId: idOf(1), permissions: ':workspace' });
  expect(await sandboxNow()).toEqual(WORKSPACE);
});

test('unknown profiles and environments, two policies at once and relative roots are refused, and no turn begins', async () => {
  const { client } = await startServer();
  await client.request('thread/start', {});
  const input = text('x');
  const unknown =
    'unknown permission profile `nope`: expected one of :read-only, :workspace, :danger-full-access';
  const relative = 'params.runtimeWorkspaceRoots: "rel" is not an absolute path';
  const environments = [{ environmentId: 'zz', cwd: '/' }];
  const cases: [string, object, string, string][] = [
    ['permission_profile_not_found', { permissions: 'nope' }, unknown, unknown],
    [
      'environment_not_found',
      { environments },
      'unknown turn environment id `zz`',
      'unknown turn environment id `zz`',
    ],
    ['invalid_params', { runtimeWorkspaceRoots: ['/a', 'rel'] }, relative, relative],
    [
      'invalid_params',
      { permissions: ':workspace', sandbox: 'read-only', sandboxPolicy: { type: 'readOnly' } },
      '`permissions` cannot be combined with `sandbox`',
      '`permissions` cannot be combined with `sandboxPolicy`',
    ],
  ];
  for (const [code, params, ofThread, ofTurn] of cases) {
    expect(await client.refusal('thread/start', params)).toEqual({
      code: -32600,
      message: ofThread,
      data: { code },
    });
    expect(await client.refusal('turn/start', { threadId: idOf(1), input, ...params })).toEqual({
      code: -32600,
      message: ofTurn,
      data: { code },
    });
  }
  expect(client.notifications('turn/started')).toEqual([]);
});

test('an empty model is refused by thread/start, and ignored by turn/start', async () => {
  const { client, model } = await startServer();
  await client.request('thread/start', {});
  const refused = {
    code: -32600,
    message: 'params.model must not be empty: leave it out for the default',
    data: { code: 'invalid_params' },
  };
  expect(await client.refusal('thread/start', { model: '' })).toEqual(refused);
  expect(await client.refusal('thread/fork', { threadId: idOf(1), model: ' ' })).toEqual(refused);
  model.push(response(message('ok')));
  await client.turn(idOf(1), 'hi', { model: '' });
  await client.request('thread/settings/update', { threadId: idOf(1), model: '' });
  expect((await client.request('thread/resume', { threadId: idOf(1), model: '' })).model).toBe(
    'test-model',
  );
  expect(model.request(1).model).toBe('test-model');
});
