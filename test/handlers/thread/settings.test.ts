import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  ThreadSettings,
  ThreadSettingsUpdateParams,
} from '../../../src/protocol/generated/types.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { gatedStore } from '../../support/gated-store.ts';
import { text } from '../../support/test-client.ts';
import { message, messageBegun, response, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

async function withThread(): Promise<TestServer> {
  const server = await startServer({
    model: new TestModel(...[1, 2, 3].map(() => response(message('ok')))),
  });
  await server.client.request('thread/start', {});
  return server;
}

/**
 * The settings that clients see of a thread that was started without params, except those given.
 */
function settingsUpdate({ cwd }: Pick<TestServer, 'cwd'>, given: Partial<ThreadSettings> = {}) {
  const { model = 'test-model', effort = null } = given;
  const threadSettings: ThreadSettings = {
    cwd,
    approvalPolicy: 'on-request',
    approvalsReviewer: 'user',
    sandboxPolicy: { type: 'readOnly', networkAccess: false },
    activePermissionProfile: null,
    model,
    modelProvider: 'test',
    serviceTier: null,
    effort,
    summary: null,
    personality: null,
    collaborationMode: {
      mode: 'default',
      settings: { model, reasoning_effort: effort, developer_instructions: null },
    },
    multiAgentMode: 'explicitRequestOnly',
    disabledPluginIds: [],
    environments: null,
    ...given,
  };
  return { threadId: idOf(1), threadSettings };
}

async function update(
  { client }: Pick<TestServer, 'client'>,
  params: Omit<ThreadSettingsUpdateParams, 'threadId'>,
) {
  return client.request('thread/settings/update', { threadId: idOf(1), ...params });
}

async function settings({ client }: Pick<TestServer, 'client'>) {
  const {
    thread: _,
    turnsBackwardsCursor,
    itemsBackwardsCursor,
    ...rest
  } = await client.request('thread/resume', {
    threadId: idOf(1),
    excludeTurns: true,
  });
  return rest;
}

describe('thread/settings/update refuses, and changes nothing', () => {
  const bad: [object, string, string][] = [
    [{ threadId: idOf(9) }, 'thread_not_found', `thread not found: ${idOf(9)}`],
    [{ model: 7 }, 'invalid_params', 'params.model: 7 is not a string'],
    [{ approvalPolicy: 'nope' }, 'invalid_params', 'params.approvalPolicy: '],
    [
      { sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['/a', 'b'] } },
      'invalid_params',
      'params.sandboxPolicy.writableRoots[1]: ',
    ],
    [
      { permissions: ':nope' },
      'permission_profile_not_found',
      'unknown permission profile `:nope`: ',
    ],
    [
      { environments: [{ environmentId: 'local', cwd: '/' }] },
      'not_supported',
      'thread/settings/update.environments is not supported by this server',
    ],
  ];

  test.each(bad)('%j', async (params, code, problem) => {
    const server = await withThread();
    const before = await settings(server);
    const refusal = await server.client.refusal('thread/settings/update', {
      threadId: idOf(1),
      effort: 'high',
      ...params,
    });
    expect([refusal.code, refusal.data.code, refusal.message.slice(0, problem.length)]).toEqual([
      -32600,
      code,
      problem,
    ]);
    expect(await settings(server)).toEqual(before);
    expect(server.client.notifications('thread/settings/updated')).toEqual([]);
  });

  test('a client that has not asked for the experimental API', async () => {
    const { client } = await startServer({ capabilities: null });
    await client.request('thread/start', {});
    expect(
      (await client.refusal('thread/settings/update', { threadId: idOf(1), model: 'x' })).data.code,
    ).toBe('experimental_api_required');
  });

  test('a thread that is not loaded', async () => {
    const server = await withThread();
    await server.client.turn(idOf(1), 'one');
    const { client } = await server.restart();
    expect(
      (await client.refusal('thread/settings/update', { threadId: idOf(1), model: 'x' })).data.code,
    ).toBe('thread_not_found');
  });

  test('where the store fails', async () => {
    let isFull = false;
    const server = await startServer({
      wrapStore: (store) =>
        gatedStore(store, () => {
          if (isFull) throw new StoreError('store_full', 'the disk is full');
        }),
    });
    await server.client.request('thread/start', {});
    const before = await settings(server);
    isFull = true;
    expect(
      (await server.client.refusal('thread/settings/update', { threadId: idOf(1), model: 'x' }))
        .data,
    ).toEqual({ code: 'store_full' });
    isFull = false;
    expect(await settings(server)).toEqual(before);
    expect(server.client.notifications('thread/settings/updated')).toEqual([]);
  });
});

test('every setting holds for the next turns; after the response, followers of the thread get all settings', async () => {
  const server = await withThread();
  const other = await server.connect();
  await other.request('thread/resume', { threadId: idOf(1) });
  mkdirSync(join(server.cwd, 'below'));
  const before = server.client.messages.length;
  const changes: Omit<ThreadSettingsUpdateParams, 'threadId'> = {
    cwd: 'below',
    approvalPolicy: 'untrusted',
    approvalsReviewer: 'auto_review',
    sandboxPolicy: { type: 'workspaceWrite' },
    model: 'other',
    effort: 'high',
    summary: 'detailed',
    serviceTier: 'flex',
    personality: 'friendly',
    environments: [],
    disabledPluginIds: ['x'],
    multiAgentMode: 'proactive',
  };
  expect(await update(server, changes)).toEqual({});
  const expected = settingsUpdate(server, {
    cwd: join(server.cwd, 'below'),
    approvalPolicy: 'untrusted',
    approvalsReviewer: 'auto_review',
    sandboxPolicy: {
      type: 'workspaceWrite',
      writableRoots: [],
      networkAccess: false,
      excludeTmpdirEnvVar: false,
      excludeSlashTmp: false,
    },
    model: 'other',
    effort: 'high',
    summary: 'detailed',
    serviceTier: 'flex',
    personality: 'friendly',
    environments: [],
    multiAgentMode: 'proactive',
  });
  expect(await other.waitFor('thread/settings/updated')).toEqual(expected);
  await server.client.waitFor('thread/settings/updated');
  expect(server.client.messages.slice(before)).toEqual([
    { id: expect.any(Number), result: {} },
    { method: 'thread/settings/updated', params: expected },
  ]);
  await server.client.turn(idOf(1), 'one');
  await server.client.turn(idOf(1), 'two');
  const asked = server.model.requests.map(({ model, effort, summary, serviceTier }) => ({
    model,
    effort,
    summary,
    serviceTier,
  }));
  const changed = { model: 'other', effort: 'high', summary: 'detailed', serviceTier: 'flex' };
  expect(asked).toEqual([changed, changed]);
  expect(server.client.notifications('thread/settings/updated')).toHaveLength(1);
});

test('an update without a change is answered, but not announced', async () => {
  const server = await withThread();
  expect(await update(server, {})).toEqual({});
  expect(
    await update(server, {
      model: 'test-model',
      approvalPolicy: null,
      sandboxPolicy: { type: 'readOnly' },
    }),
  ).toEqual({});
  expect(await update(server, { effort: 'low' })).toEqual({});
  expect(await server.client.waitFor('thread/settings/updated')).toEqual(
    settingsUpdate(server, { effort: 'low' }),
  );
});

test('a collaboration mode brings its model and effort', async () => {
  const server = await withThread();
  const collaborationMode = {
    mode: 'plan' as const,
    settings: { model: 'planner', reasoning_effort: 'low', developer_instructions: 'Slowly.' },
  };
  await update(server, { model: 'loser', collaborationMode });
  expect(await server.client.waitFor('thread/settings/updated')).toEqual(
    settingsUpdate(server, { model: 'planner', effort: 'low', collaborationMode }),
  );
});

test('an update while a turn runs holds from the next turn on', async () => {
  const gate = new Gate();
  const server = await startServer({
    model: new TestModel(
      response(messageBegun('par'), [gate]),
      response(message('steered')),
      response(message('second')),
    ),
  });
  await server.client.request('thread/start', {});
  const { turn } = await server.client.request('turn/start', {
    threadId: idOf(1),
    input: text('go'),
  });
  await server.client.waitFor('item/agentMessage/delta');
  await update(server, { model: 'other' });
  expect(await server.client.waitFor('thread/settings/updated')).toEqual(
    settingsUpdate(server, { model: 'other' }),
  );
  await server.client.request('turn/steer', {
    threadId: idOf(1),
    expectedTurnId: turn.id,
    input: text('more'),
  });
  await server.client.turnCompleted(turn.id);
  await server.client.turn(idOf(1), 'two');
  expect(server.model.requests.map(({ model }) => model)).toEqual([
    'test-model',
    'test-model',
    'other',
  ]);
});

test('an update survives a restart as the settings of a turn do, even without a turn after it', async () => {
  const server = await withThread();
  await update(server, { model: 'other', effort: 'max' });
  const next = await server.restart();
  expect(await settings(next)).toMatchObject({ model: 'other', reasoningEffort: 'max' });
});

describe('settings that change with a turn are announced before the turn', () => {
  test('turn/start', async () => {
    const server = await withThread();
    await server.client.turn(idOf(1), 'one', { model: 'test-model' });
    expect(server.client.notifications('thread/settings/updated')).toEqual([]);
    const before = server.client.messages.length;
    await server.client.turn(idOf(1), 'two', { model: 'other', serviceTierForTurn: 'flex' });
    expect(server.client.messages.slice(before, before + 3)).toEqual([
      { id: expect.any(Number), result: { turn: expect.any(Object) } },
      { method: 'thread/settings/updated', params: settingsUpdate(server, { model: 'other' }) },
      {
        method: 'thread/status/changed',
        params: { threadId: idOf(1), status: { type: 'active', activeFlags: [] } },
      },
    ]);
  });

  test('turn/start that joins a turn', async () => {
    const gate = new Gate();
    const server = await startServer({
      model: new TestModel(response(messageBegun('par'), [gate]), response(message('after'))),
    });
    await server.client.request('thread/start', {});
    const { turn } = await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('go'),
    });
    await server.client.waitFor('item/agentMessage/delta');
    await server.client.request('turn/start', {
      threadId: idOf(1),
      input: text('more'),
      effort: 'low',
    });
    await server.client.turnCompleted(turn.id);
    expect(server.client.notifications('thread/settings/updated')).toEqual([
      settingsUpdate(server, { effort: 'low' }),
    ]);
  });
});
