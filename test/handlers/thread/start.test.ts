import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { settingsOf, threadOf } from '../../support/expected.ts';
import { conversation, message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';

describe('thread/start refuses', () => {
  test('params of the wrong type, and names the field', async () => {
    const { client } = await startServer();
    const refused = { code: -32600, data: { code: 'invalid_params' } };
    expect([
      await client.refusal('thread/start', { model: 5 }),
      await client.refusal('thread/start', { sandbox: 'nope' }),
      await client.refusal('thread/start', { approvalPolicy: 'sometimes' }),
      await client.refusal('thread/start', { approvalPolicy: { granular: { rules: true } } }),
      await client.refusal('thread/start', { config: [] }),
    ]).toEqual([
      { ...refused, message: 'params.model: 5 is not a string' },
      {
        ...refused,
        message:
          'params.sandbox: "nope" is none of "read-only", "workspace-write", "danger-full-access"',
      },
      {
        ...refused,
        message:
          'params.approvalPolicy: "sometimes" is none of "untrusted", "on-failure", "on-request", "never"',
      },
      {
        ...refused,
        message: expect.stringContaining('params.approvalPolicy.granular.sandbox_approval'),
      },
      { ...refused, message: 'params.config: an array is not an object' },
    ]);
  });

  test('a working directory that is no folder, as turn/start does; a thread whose folder is gone can be resumed and forked', async () => {
    const { client, home, cwd } = await startServer();
    const gone = join(home, 'gone');
    mkdirSync(gone);
    writeFileSync(join(home, 'file'), '');
    const { thread } = await client.request('thread/start', { cwd: gone });
    await client.turn(thread.id, 'hello');
    rmdirSync(gone);
    const environments = [{ environmentId: 'local', cwd: gone }];
    const input = [{ type: 'text' as const, text: 'hello' }];
    const refused = (cwd: string) => ({
      code: -32600,
      message: `params.cwd: there is no folder ${JSON.stringify(cwd)}: create it, or name one that exists`,
      data: { code: 'cwd_not_found' },
    });
    expect(await client.refusal('thread/start', { cwd: gone })).toEqual(refused(gone));
    expect(await client.refusal('thread/start', { cwd: join(home, 'file') })).toEqual(
      refused(join(home, 'file')),
    );
    expect(await client.refusal('thread/start', { cwd: 'nope' })).toEqual(
      refused(join(cwd, 'nope')),
    );
    expect(
      await client.refusal('turn/start', { threadId: thread.id, input, cwd: './nope' }),
    ).toEqual(refused(join(cwd, 'nope')));
    expect(await client.refusal('turn/start', { threadId: thread.id, input, cwd: gone })).toEqual(
      refused(gone),
    );
    expect(
      await client.refusal('turn/start', { threadId: thread.id, input, environments }),
    ).toEqual(refused(gone));
    for (const method of ['thread/resume', 'thread/fork'] as const)
      expect(await client.request(method, { threadId: thread.id, cwd: gone })).toMatchObject({
        cwd: gone,
      });
  });

  test('an undefined provider, and starts nothing', async () => {
    const { client } = await startServer({ model: null });
    expect(await client.refusal('thread/start', { modelProvider: 'nobody' })).toEqual({
      code: -32600,
      message:
        'invalid config: unknown model provider: nobody. config.toml defines test. Built in: openai, ollama, lmstudio, embedded',
      data: { code: 'config_invalid' },
    });
    expect(await client.request('thread/loaded/list', {})).toEqual({ data: [], nextCursor: null });
  });

  test('a bad value in its config', async () => {
    const { client } = await startServer();
    expect(await client.refusal('thread/start', { config: { sandbox_mode: 'open' } })).toEqual({
      code: -32600,
      message: expect.stringMatching(
        /^invalid config: sandbox_mode \(given in the request's config\): expected .*, found "open"$/,
      ),
      data: { code: 'config_invalid' },
    });
  });

  test('everything while config.toml is invalid, and works as soon as it is corrected', async () => {
    const { client, home } = await startServer({ config: 'model = [broken' });
    expect(await client.refusal('thread/start', {})).toEqual({
      code: -32600,
      message: expect.stringContaining(join(home, 'config.toml')),
      data: { code: 'config_invalid' },
    });
    writeFileSync(join(home, 'config.toml'), 'model = "mended"\nmodel_provider = "scripted"\n');
    expect(await client.request('thread/start', {})).toMatchObject({
      model: 'mended',
      modelProvider: 'scripted',
    });
  });
});

test('thread/start returns the thread and its settings, then thread/started announces the same thread', async () => {
  const server = await startServer();
  const thread = threadOf(server, { id: idOf(1) });
  expect(await server.client.request('thread/start', {})).toEqual({
    thread,
    ...settingsOf(server),
  });
  await server.client.waitFor('thread/started');
  expect(server.client.messages.slice(1)).toEqual([
    { id: 2, result: { thread, ...settingsOf(server) } },
    { method: 'thread/started', params: { thread } },
  ]);
});

test('thread/start returns ids in the order of the starts', async () => {
  const { client } = await startServer();
  const started = [];
  for (let count = 0; count < 3; count++)
    started.push((await client.request('thread/start', {})).thread.id);
  expect(started).toEqual([idOf(1), idOf(2), idOf(3)]);
  expect(await client.request('thread/loaded/list', {})).toEqual({
    data: started,
    nextCursor: null,
  });
});

test('thread/start takes overrides of every setting', async () => {
  const server = await startServer();
  const cwd = join(server.folder, 'elsewhere');
  mkdirSync(cwd);
  const answer = await server.client.request('thread/start', {
    cwd,
    model: 'other-model',
    modelProvider: 'scripted',
    approvalPolicy: { granular: { sandbox_approval: true, rules: false, mcp_elicitations: true } },
    approvalsReviewer: 'auto_review',
    sandbox: 'danger-full-access',
    serviceTier: 'flex',
    threadSource: 'user',
    personality: 'pragmatic',
  });
  expect(answer).toEqual({
    thread: threadOf(server, {
      id: idOf(1),
      cwd,
      model: 'other-model',
      modelProvider: 'scripted',
      threadSource: 'user',
    }),
    ...settingsOf(server, {
      cwd,
      model: 'other-model',
      modelProvider: 'scripted',
      serviceTier: 'flex',
      approvalPolicy: {
        granular: {
          sandbox_approval: true,
          rules: false,
          mcp_elicitations: true,
          request_permissions: false,
          skill_approval: false,
        },
      },
      approvalsReviewer: 'auto_review',
      sandbox: { type: 'dangerFullAccess' },
    }),
  });
});

test('null in every optional field counts as absent', async () => {
  const server = await startServer();
  const fields = [
    'model',
    'modelProvider',
    'cwd',
    'approvalPolicy',
    'sandbox',
    'config',
    'baseInstructions',
    'ephemeral',
    'serviceTier',
  ];
  const answer = await server.client.call(
    'thread/start',
    Object.fromEntries(fields.map((field) => [field, null])),
  );
  expect(answer).toEqual({ thread: threadOf(server, { id: idOf(1) }), ...settingsOf(server) });
});

test('the config of thread/start, with dotted keys, overrides config.toml, and the other fields override that', async () => {
  const server = await startServer();
  const answer = await server.client.request('thread/start', {
    model: 'field-model',
    config: {
      model: 'config-model',
      model_reasoning_effort: 'high',
      sandbox_mode: 'workspace-write',
      'sandbox_workspace_write.network_access': true,
      approval_policy: 'never',
    },
  });
  expect(answer).toEqual({
    thread: threadOf(server, { id: idOf(1), model: 'field-model', reasoningEffort: 'high' }),
    ...settingsOf(server, {
      model: 'field-model',
      reasoningEffort: 'high',
      approvalPolicy: 'never',
      sandbox: {
        type: 'workspaceWrite',
        writableRoots: [],
        networkAccess: true,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      },
    }),
  });
});

test('the instructions and settings of thread/start reach the model', async () => {
  const { client, model } = await startServer({ model: new TestModel(response(message('ok'))) });
  const { thread } = await client.request('thread/start', {
    model: 'other-model',
    serviceTier: 'flex',
    baseInstructions: 'Only this.',
    developerInstructions: 'And that.',
    config: {
      model_reasoning_effort: 'low',
      model_reasoning_summary: 'concise',
      model_verbosity: 'high',
    },
  });
  await client.turn(thread.id, 'hi');
  const { input, tools: _, ...rest } = model.request(1);
  expect(rest).toEqual({
    model: 'other-model',
    instructions: 'Only this.',
    effort: 'low',
    summary: 'concise',
    outputSchema: null,
    serviceTier: 'flex',
    verbosity: 'high',
    promptCacheKey: thread.id,
    headers: expect.objectContaining({ 'thread-id': thread.id }),
    clientMetadata: expect.objectContaining({ thread_id: thread.id }),
  });
  expect(input[0]).toMatchObject({
    role: 'developer',
    content: [{}, { type: 'input_text', text: 'And that.' }],
  });
});

test('AGENTS.md of the home and of the folder reaches the model, and the response names the files', async () => {
  const server = await startServer({
    model: new TestModel(response(message('ok'))),
    files: { 'home/AGENTS.md': 'Be brief.', 'work/AGENTS.md': 'Be kind.' },
  });
  const answer = await server.client.request('thread/start', {});
  expect(answer.instructionSources).toEqual([
    join(server.home, 'AGENTS.md'),
    join(server.cwd, 'AGENTS.md'),
  ]);
  await server.client.turn(answer.thread.id, 'hi');
  const texts = server.model
    .request(1)
    .input.flatMap((item) => (item.type === 'message' ? item.content : []));
  const instructions = texts.flatMap((part) =>
    'text' in part && part.text.startsWith('# AGENTS.md') ? part.text : [],
  );
  expect(instructions).toEqual([expect.stringMatching(/Be brief\.[\s\S]*Be kind\./)]);
});

test('a relative cwd is relative to the working directory of the server', async () => {
  const server = await startServer();
  mkdirSync(join(server.cwd, 'below'));
  expect((await server.client.request('thread/start', { cwd: 'below' })).cwd).toBe(
    join(server.cwd, 'below'),
  );
});

test('an ephemeral thread has no path, is not listed, works, and ends with the server', async () => {
  const server = await startServer({ model: new TestModel(response(message('ok'))) });
  const answer = await server.client.request('thread/start', { ephemeral: true });
  expect(answer.thread).toEqual(threadOf(server, { id: idOf(1), ephemeral: true, path: null }));
  await server.client.turn(idOf(1), 'hi');
  expect(conversation(server.model.request(1))).toHaveLength(1);
  expect(await server.client.request('thread/list', {})).toEqual({
    data: [],
    nextCursor: null,
    backwardsCursor: null,
  });
  const { client } = await server.restart();
  expect(await client.refusal('thread/resume', { threadId: idOf(1) })).toEqual({
    code: -32600,
    message: `no rollout found for thread id ${idOf(1)}`,
    data: { code: 'thread_not_found', threadId: idOf(1) },
  });
});

test('a thread is not listed before its first turn, but can be read', async () => {
  const server = await startServer();
  await server.client.request('thread/start', {});
  expect(await server.client.request('thread/list', {})).toEqual({
    data: [],
    nextCursor: null,
    backwardsCursor: null,
  });
  const { client } = await server.restart();
  expect(await client.request('thread/read', { threadId: idOf(1), includeTurns: true })).toEqual({
    thread: threadOf(server, { id: idOf(1), status: { type: 'notLoaded' } }),
    readState: null,
  });
});
