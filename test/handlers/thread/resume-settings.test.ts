import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  ThreadResumeParams,
  ThreadStartResponse,
} from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { settingsOf } from '../../support/expected.ts';
import { conversation, message, response } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';
import { threadWith } from '../../support/thread-with.ts';

const turnOverrides = {
  model: 'turn-model',
  effort: 'high',
  approvalPolicy: 'never',
  sandboxPolicy: { type: 'dangerFullAccess' },
} as const;

/** A thread whose last turn has changed its settings. */
async function withTurnOverrides(): Promise<TestServer> {
  const server = await startServer();
  mkdirSync(join(server.folder, 'elsewhere'));
  await threadWith(server, [['one', 'first']]);
  server.model.push(response(message('second')));
  await server.client.turn(idOf(1), 'two', {
    ...turnOverrides,
    cwd: join(server.folder, 'elsewhere'),
  });
  return server;
}

async function settingsAfter(
  { client }: TestServer,
  params: Partial<ThreadResumeParams> = {},
): Promise<Omit<ThreadStartResponse, 'thread'>> {
  const {
    thread: _,
    collaborationMode: _mode,
    initialTurnsPage: _page,
    turnsBackwardsCursor: _turns,
    itemsBackwardsCursor: _items,
    ...settings
  } = await client.request('thread/resume', { threadId: idOf(1), ...params });
  return settings;
}

describe('a thread that is not loaded', () => {
  test('keeps model, effort and cwd of its last turn, but takes sandbox and approval policy from the configuration', async () => {
    const server = await withTurnOverrides();
    const next = await server.restart();
    const cwd = join(server.folder, 'elsewhere');
    expect(await settingsAfter(next)).toEqual(
      settingsOf(server, { cwd, model: 'turn-model', reasoningEffort: 'high' }),
    );
  });

  test('keeps its collaboration mode', async () => {
    const server = await startServer();
    await threadWith(server, [['one', 'first']]);
    const collaborationMode = {
      mode: 'plan' as const,
      settings: { model: 'plan-model', reasoning_effort: 'low', developer_instructions: 'Plan.' },
    };
    server.model.push(response(message('second')));
    await server.client.turn(idOf(1), 'two', { collaborationMode });
    const { client } = await server.restart();
    expect(
      (await client.request('thread/resume', { threadId: idOf(1) })).collaborationMode,
    ).toEqual(collaborationMode);
  });

  test('keeps its model if the configuration now names another', async () => {
    const server = await withTurnOverrides();
    const config =
      'model = "new-default"\nmodel_reasoning_effort = "low"\nmodel_provider = "scripted"\n[model_providers.test]\nbase_url = "http://127.0.0.1:9"\n';
    const next = await server.restart({ config });
    expect(await settingsAfter(next)).toMatchObject({
      model: 'turn-model',
      reasoningEffort: 'high',
      modelProvider: 'test',
    });
  });

  test('is refused if its provider is no longer defined, unless the request names another', async () => {
    const server = await withTurnOverrides();
    const { client } = await server.restart({ config: 'model = "m"\n', model: null });
    expect(await client.refusal('thread/resume', { threadId: idOf(1) })).toMatchObject({
      message: expect.stringContaining('unknown model provider: test'),
      data: { code: 'config_invalid' },
    });
    const answer = await client.request('thread/resume', {
      threadId: idOf(1),
      modelProvider: 'scripted',
    });
    expect(answer).toMatchObject({ modelProvider: 'embedded', model: 'embedded' });
  });

  test('takes overrides, explicit ones over those in its config, and the model gets them', async () => {
    const server = await withTurnOverrides();
    const next = await server.restart();
    const settings = await settingsAfter(next, {
      model: 'explicit',
      cwd: server.cwd,
      sandbox: 'workspace-write',
      approvalPolicy: 'untrusted',
      approvalsReviewer: 'guardian_subagent',
      serviceTier: 'flex',
      developerInstructions: 'Say please.',
      config: { model: 'from-config', model_reasoning_effort: 'low' },
    });
    expect(settings).toEqual(
      settingsOf(server, {
        model: 'explicit',
        reasoningEffort: 'low',
        approvalPolicy: 'untrusted',
        approvalsReviewer: 'guardian_subagent',
        serviceTier: 'flex',
        sandbox: {
          type: 'workspaceWrite',
          writableRoots: [],
          networkAccess: false,
          excludeTmpdirEnvVar: false,
          excludeSlashTmp: false,
        },
      }),
    );
    next.model.push(response(message('third')));
    await next.client.turn(idOf(1), 'three');
    const { model, effort, serviceTier } = next.model.request(3);
    expect({ model, effort, serviceTier }).toEqual({
      model: 'explicit',
      effort: 'low',
      serviceTier: 'flex',
    });
    expect(JSON.stringify(next.model.request(3).input)).toContain('Say please.');
  });

  test('keeps its reviewer, and so does a fork', async () => {
    const server = await startServer();
    await threadWith(server, [['one', 'first']], { approvalsReviewer: 'auto_review' });
    const { client } = await server.restart();
    expect(await client.request('thread/fork', { threadId: idOf(1) })).toMatchObject({
      approvalsReviewer: 'auto_review',
    });
    expect(await client.request('thread/resume', { threadId: idOf(1) })).toMatchObject({
      approvalsReviewer: 'auto_review',
    });
    const config = { approvals_reviewer: 'user' };
    const again = await client.request('thread/resume', { threadId: idOf(1), config });
    expect(again).toMatchObject({ approvalsReviewer: 'user' });
  });

  test('takes the values of its config over those of the last turn', async () => {
    const server = await withTurnOverrides();
    expect(
      await settingsAfter(await server.restart(), { config: { model: 'from-config' } }),
    ).toMatchObject({
      model: 'from-config',
      reasoningEffort: 'high',
    });
  });

  test('keeps base and developer instructions', async () => {
    const server = await startServer();
    await threadWith(server, [['one', 'first']], {
      baseInstructions: 'Only this.',
      developerInstructions: 'And that.',
    });
    const { client, model } = await server.restart();
    await client.request('thread/resume', { threadId: idOf(1) });
    model.push(response(message('second')));
    await client.turn(idOf(1), 'two');
    expect(model.request(2).instructions).toBe('Only this.');
    expect(JSON.stringify(model.request(2).input).split('And that.')).toHaveLength(2);
  });
});

describe('an idle loaded thread', () => {
  test('keeps all settings if the request has none', async () => {
    const server = await withTurnOverrides();
    expect(await settingsAfter(server)).toEqual(
      settingsOf(server, {
        cwd: join(server.folder, 'elsewhere'),
        model: 'turn-model',
        reasoningEffort: 'high',
        approvalPolicy: 'never',
        sandbox: { type: 'dangerFullAccess' },
      }),
    );
  });

  test('takes overrides, and keeps all other settings', async () => {
    const server = await withTurnOverrides();
    const cwd = join(server.folder, 'elsewhere');
    const changed = settingsOf(server, {
      cwd,
      model: 'resumed-model',
      reasoningEffort: 'high',
      approvalPolicy: 'untrusted',
      sandbox: { type: 'dangerFullAccess' },
    });
    expect(
      await settingsAfter(server, { model: 'resumed-model', approvalPolicy: 'untrusted' }),
    ).toEqual(changed);
    expect(await settingsAfter(server)).toEqual(changed);
    server.model.push(response(message('third')));
    await server.client.turn(idOf(1), 'three');
    expect(server.model.request(3).model).toBe('resumed-model');
    expect(conversation(server.model.request(3))).toHaveLength(5);
  });

  test('does not change if an override is refused', async () => {
    const server = await withTurnOverrides();
    const { client } = await server.restart({ model: null });
    await client.refusal('thread/resume', {
      threadId: idOf(1),
      model: 'x',
      modelProvider: 'nobody',
    });
    expect(await client.request('thread/resume', { threadId: idOf(1) })).toMatchObject({
      model: 'turn-model',
      modelProvider: 'test',
    });
  });
});
