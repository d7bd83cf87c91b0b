import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  ReadOnlyAccess,
  SandboxPolicy,
  TurnStartParams,
} from '../../../src/protocol/generated/types.ts';
import { idOf } from '../../support/counting-ids.ts';
import { text } from '../../support/test-client.ts';
import { message, response, TestModel } from '../../support/test-model.ts';
import { startServer, type TestServer } from '../../support/test-server.ts';

async function withThread(answers = 3): Promise<TestServer> {
  const responses = Array.from({ length: answers }, () => response(message('ok')));
  const server = await startServer({ model: new TestModel(...responses) });
  await server.client.request('thread/start', {});
  return server;
}

async function settings({ client }: TestServer) {
  const {
    model,
    cwd,
    approvalPolicy,
    approvalsReviewer,
    sandbox,
    reasoningEffort,
    serviceTier,
    collaborationMode,
  } = await client.request('thread/resume', { threadId: idOf(1), excludeTurns: true });
  return {
    model,
    cwd,
    approvalPolicy,
    approvalsReviewer,
    sandbox,
    reasoningEffort,
    serviceTier,
    collaborationMode,
  };
}

function toldTexts({ model }: TestServer, count: number): string[] {
  return model.request(count).input.flatMap((item) => {
    if (item.type !== 'message' || (item.role !== 'developer' && item.role !== 'user')) return [];
    return item.content.flatMap((part) =>
      'text' in part && typeof part.text === 'string' ? part.text : [],
    );
  });
}

describe('a bad override is refused, names its field, and starts nothing', () => {
  const bad: [string, Record<string, unknown>][] = [
    ['params.cwd', { cwd: 7 }],
    ['params.model', { model: 7 }],
    ['params.effort', { effort: 7 }],
    ['params.summary', { summary: 'nope' }],
    ['params.approvalPolicy', { approvalPolicy: 'nope' }],
    [
      'params.approvalPolicy.granular.rules',
      {
        approvalPolicy: { granular: { sandbox_approval: true, rules: 1, mcp_elicitations: true } },
      },
    ],
    ['params.approvalsReviewer', { approvalsReviewer: 'nope' }],
    ['params.sandboxPolicy.type', { sandboxPolicy: { type: 'nope' } }],
    [
      'params.sandboxPolicy.writableRoots[1]',
      { sandboxPolicy: { type: 'workspaceWrite', writableRoots: ['/a', 'b'] } },
    ],
    [
      'params.sandboxPolicy.access.readableRoots[0]',
      { sandboxPolicy: { type: 'readOnly', access: { type: 'restricted', readableRoots: ['b'] } } },
    ],
    [
      'params.sandboxPolicy.readOnlyAccess.readableRoots[0]',
      {
        sandboxPolicy: {
          type: 'workspaceWrite',
          readOnlyAccess: { type: 'restricted', readableRoots: ['b'] },
        },
      },
    ],
    ['params.serviceTier', { serviceTier: 7 }],
    ['params.personality', { personality: 'rude' }],
    [
      'params.collaborationMode.mode',
      { collaborationMode: { mode: 'nope', settings: { model: 'm' } } },
    ],
    [
      'params.collaborationMode.settings.model',
      { collaborationMode: { mode: 'plan', settings: {} } },
    ],
  ];

  test.each(bad)('%s: %j', async (field, override) => {
    const server = await withThread();
    const before = await settings(server);
    const refusal = await server.client.refusal('turn/start', {
      threadId: idOf(1),
      input: text('hi'),
      ...override,
    });
    expect(refusal).toEqual({
      code: -32600,
      message: expect.any(String),
      data: { code: 'invalid_params' },
    });
    expect(
      refusal.message.startsWith(`${field}: `) || refusal.message.startsWith(`${field} is missing`),
    ).toBe(true);
    expect(await settings(server)).toEqual(before);
    expect(server.client.notifications('turn/started')).toEqual([]);
    expect(server.model.requests).toEqual([]);
  });
});

test('null in every override counts as absent', async () => {
  const server = await withThread();
  const before = await settings(server);
  const fields = [
    'cwd',
    'model',
    'effort',
    'summary',
    'approvalPolicy',
    'approvalsReviewer',
    'sandboxPolicy',
    'serviceTier',
    'personality',
  ];
  const others = ['collaborationMode', 'outputSchema', 'clientUserMessageId', 'additionalContext'];
  const nulls = Object.fromEntries([...fields, ...others].map((field) => [field, null]));
  await server.client.turn(idOf(1), 'hi', nulls);
  expect(await settings(server)).toEqual(before);
});

describe('holds for this and later turns, and over a restart if it concerns the model', () => {
  test('model, effort, summary and serviceTier', async () => {
    const server = await withThread();
    await server.client.turn(idOf(1), 'one');
    await server.client.turn(idOf(1), 'two', {
      model: 'other',
      effort: 'max',
      summary: 'detailed',
      serviceTier: 'flex',
    });
    await server.client.turn(idOf(1), 'three');
    const asked = server.model.requests.map(({ model, effort, summary, serviceTier }) => ({
      model,
      effort,
      summary,
      serviceTier,
    }));
    const changed = { model: 'other', effort: 'max', summary: 'detailed', serviceTier: 'flex' };
    expect(asked).toEqual([
      { model: 'test-model', effort: null, summary: null, serviceTier: null },
      changed,
      changed,
    ]);
    expect(await settings(server)).toMatchObject({
      model: 'other',
      reasoningEffort: 'max',
      serviceTier: 'flex',
    });
    const next = await server.restart();
    expect(await settings(next)).toMatchObject({
      model: 'other',
      reasoningEffort: 'max',
      serviceTier: 'flex',
    });
  });

  test('a serviceTier of null removes the tier', async () => {
    const server = await withThread();
    await server.client.turn(idOf(1), 'one', { serviceTier: 'flex' });
    await server.client.turn(idOf(1), 'two', {});
    await server.client.turn(idOf(1), 'three', { serviceTier: null });
    expect(server.model.requests.map(({ serviceTier }) => serviceTier)).toEqual([
      'flex',
      'flex',
      null,
    ]);
  });

  test('cwd, of which the model is told once', async () => {
    const server = await withThread();
    const cwd = join(server.folder, 'elsewhere');
    mkdirSync(cwd);
    await server.client.turn(idOf(1), 'one');
    await server.client.turn(idOf(1), 'two', { cwd });
    await server.client.turn(idOf(1), 'three');
    expect((await settings(server)).cwd).toBe(cwd);
    expect(toldTexts(server, 1).filter((said) => said.includes(`<cwd>${cwd}</cwd>`))).toHaveLength(
      0,
    );
    expect(toldTexts(server, 2).filter((said) => said.includes(`<cwd>${cwd}</cwd>`))).toHaveLength(
      1,
    );
    expect(toldTexts(server, 3)).toEqual([...toldTexts(server, 2), 'three']);
  });

  test('approvalPolicy and approvalsReviewer', async () => {
    const server = await withThread();
    const granular = { sandbox_approval: false, rules: true, mcp_elicitations: true };
    await server.client.turn(idOf(1), 'one', {
      approvalPolicy: { granular },
      approvalsReviewer: 'guardian_subagent',
    });
    await server.client.turn(idOf(1), 'two');
    expect(await settings(server)).toMatchObject({
      approvalPolicy: {
        granular: { ...granular, request_permissions: false, skill_approval: false },
      },
      approvalsReviewer: 'guardian_subagent',
    });
    await server.client.turn(idOf(1), 'three', { approvalPolicy: 'on-failure' });
    expect(await settings(server)).toMatchObject({
      approvalPolicy: 'on-failure',
      approvalsReviewer: 'guardian_subagent',
    });
    expect(toldTexts(server, 3).filter((said) => said.startsWith('Permissions'))).toHaveLength(2);
  });

  const access: ReadOnlyAccess = {
    type: 'restricted',
    readableRoots: ['/usr'],
    includePlatformDefaults: false,
  };
  const policies: [SandboxPolicy, SandboxPolicy][] = [
    [{ type: 'dangerFullAccess' }, { type: 'dangerFullAccess' }],
    [{ type: 'readOnly' }, { type: 'readOnly', networkAccess: false }],
    [
      { type: 'readOnly', access, networkAccess: true },
      { type: 'readOnly', access, networkAccess: true },
    ],
    [{ type: 'externalSandbox' }, { type: 'externalSandbox', networkAccess: 'restricted' }],
    [
      { type: 'externalSandbox', networkAccess: 'enabled' },
      { type: 'externalSandbox', networkAccess: 'enabled' },
    ],
    [
      { type: 'workspaceWrite' },
      {
        type: 'workspaceWrite',
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      },
    ],
    [
      {
        type: 'workspaceWrite',
        writableRoots: ['/a'],
        readOnlyAccess: { type: 'fullAccess' },
        networkAccess: true,
        excludeTmpdirEnvVar: true,
        excludeSlashTmp: true,
      },
      {
        type: 'workspaceWrite',
        writableRoots: ['/a'],
        readOnlyAccess: { type: 'fullAccess' },
        networkAccess: true,
        excludeTmpdirEnvVar: true,
        excludeSlashTmp: true,
      },
    ],
  ];

  test.each(policies)('sandboxPolicy %j', async (given, complete) => {
    const server = await withThread();
    await server.client.turn(idOf(1), 'one', { sandboxPolicy: given });
    await server.client.turn(idOf(1), 'two');
    expect((await settings(server)).sandbox).toEqual(complete);
  });

  test('personality', async () => {
    const server = await withThread();
    await server.client.turn(idOf(1), 'one', { personality: 'friendly' });
    await server.client.turn(idOf(1), 'two');
    await server.client.turn(idOf(1), 'three', { personality: 'pragmatic' });
    const tones = (count: number) =>
      toldTexts(server, count).flatMap((said) =>
        said.startsWith('Tone: ') ? said.slice(0, 30) : [],
      );
    expect([tones(1).length, tones(2).length, tones(3).length]).toEqual([1, 1, 2]);
    expect(tones(3)[1]).not.toBe(tones(3)[0]);
  });

  test('collaborationMode, whose model and effort take precedence over those of the turn', async () => {
    const server = await withThread();
    const collaborationMode: TurnStartParams['collaborationMode'] = {
      mode: 'default',
      settings: {
        model: 'mode-model',
        reasoning_effort: 'low',
        developer_instructions: 'Together.',
      },
    };
    await server.client.turn(idOf(1), 'one', { model: 'loser', effort: 'high', collaborationMode });
    await server.client.turn(idOf(1), 'two');
    expect(server.model.requests.map(({ model, effort }) => [model, effort])).toEqual([
      ['mode-model', 'low'],
      ['mode-model', 'low'],
    ]);
    expect(toldTexts(server, 2).filter((said) => said.includes('Together.'))).toHaveLength(1);
    expect(await settings(server)).toMatchObject({
      model: 'mode-model',
      reasoningEffort: 'low',
      collaborationMode,
    });
  });

  test('a collaborationMode with a null effort removes the effort, and one without effort keeps it', async () => {
    const server = await withThread();
    const mode = (settings: object) => ({
      collaborationMode: { mode: 'default' as const, settings: { model: 'm', ...settings } },
    });
    await server.client.turn(idOf(1), 'one', { effort: 'low' });
    await server.client.turn(idOf(1), 'two', mode({}));
    await server.client.turn(idOf(1), 'three', mode({ reasoning_effort: null }));
    expect(server.model.requests.map(({ effort }) => effort)).toEqual(['low', 'low', null]);
  });

  test('plan mode, until another mode is given', async () => {
    const server = await withThread();
    const mode = (name: 'plan' | 'default') => ({
      collaborationMode: {
        mode: name,
        settings: { model: 'test-model', reasoning_effort: null, developer_instructions: null },
      },
    });
    await server.client.turn(idOf(1), 'one', mode('plan'));
    await server.client.turn(idOf(1), 'two');
    await server.client.turn(idOf(1), 'three', mode('default'));
    const told = (count: number) =>
      toldTexts(server, count).filter((said) =>
        /^(Plan mode|The collaboration mode has changed back)/.test(said),
      );
    expect([told(1).length, told(2).length, told(3).length]).toEqual([1, 1, 2]);
  });
});

describe('holds for this turn only', () => {
  test('outputSchema', async () => {
    const server = await withThread(2);
    const outputSchema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    };
    await server.client.turn(idOf(1), 'one', { outputSchema });
    await server.client.turn(idOf(1), 'two');
    expect(server.model.requests.map((request) => request.outputSchema)).toEqual([
      outputSchema,
      null,
    ]);
  });

  test('serviceTierForTurn', async () => {
    const server = await withThread();
    await server.client.turn(idOf(1), 'one', {
      serviceTier: 'flex',
      serviceTierForTurn: 'priority',
    });
    await server.client.turn(idOf(1), 'two');
    expect(server.model.requests.map(({ serviceTier }) => serviceTier)).toEqual([
      'priority',
      'flex',
    ]);
    expect((await settings(server)).serviceTier).toBe('flex');
  });
});

test('a relative cwd is relative to the working directory of the server', async () => {
  const server = await withThread();
  mkdirSync(join(server.cwd, 'below'));
  await server.client.turn(idOf(1), 'one', { cwd: 'below' });
  expect((await settings(server)).cwd).toBe(join(server.cwd, 'below'));
});
