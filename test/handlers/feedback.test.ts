import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { answer, question } from '../support/asking.ts';
import { idOf } from '../support/counting-ids.ts';
import { START_MS } from '../support/expected.ts';
import { text } from '../support/test-client.ts';
import { functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const KEY = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';

/** A server with a thread in which the user has written a key. */
async function serverWithThread(): Promise<TestServer & { savePath: string }> {
  const server = await startServer({
    model: new TestModel(response(message('I see.'))),
    env: { MY_TOKEN: 'tok-from-the-environment' },
  });
  await server.client.request('thread/start', { developerInstructions: 'private words' });
  await server.client.turn(idOf(1), `my key is ${KEY} and tok-from-the-environment`);
  return { ...server, savePath: join(server.folder, 'report.json') };
}

function report(
  path: string,
): Record<string, unknown> & { items: unknown[]; logs: string[]; attachments: { text: string }[] } {
  return JSON.parse(readFileSync(path, 'utf8'));
}

describe('feedback/save', () => {
  test('writes a report that only the user can read', async () => {
    const { client, savePath } = await serverWithThread();
    const params = {
      classification: 'bug',
      reason: 'It hung.',
      tags: { os: 'linux' },
      includeLogs: false,
      savePath,
      threadId: idOf(1),
    };
    expect(await client.request('feedback/save', params)).toEqual({
      savedPath: savePath,
      threadId: idOf(1),
      promptHash: null,
    });
    expect(statSync(savePath).mode & 0o777).toBe(0o600);
    expect(report(savePath)).toMatchObject({
      report: 'heddle feedback',
      createdAt: new Date(START_MS).toISOString(),
      server: { version: '0.0.1', platform: 'linux', node: process.versions.node },
      feedback: { classification: 'bug', reason: 'It hung.', tags: { os: 'linux' } },
      threadId: idOf(1),
      thread: { id: idOf(1), settings: { model: 'test-model', developerInstructions: true } },
      items: [],
      logs: [],
      attachments: [],
    });
    expect(readFileSync(savePath, 'utf8')).not.toContain('private words');
  });

  test('with includeLogs, adds log messages and the last items, without secrets', async () => {
    const { client, savePath } = await serverWithThread();
    await client.request('feedback/save', {
      classification: 'bug',
      includeLogs: true,
      savePath,
      threadId: idOf(1),
    });
    const { items, logs } = report(savePath);
    expect(items).toMatchObject([
      { item: { type: 'userMessage' } },
      { item: { type: 'agentMessage', text: 'I see.' } },
    ]);
    expect(logs.join('\n')).toMatch(/"level":"info".*turn ended/);
    const text = readFileSync(savePath, 'utf8');
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('tok-from-the-environment');
  });

  test('attaches files, cut and without secrets', async () => {
    const { client, savePath, folder } = await serverWithThread();
    const [small, large] = [join(folder, 'small.log'), join(folder, 'large.log')];
    writeFileSync(small, `started\napi_key=${KEY}\n`);
    writeFileSync(large, 'line\n'.repeat(100_000));
    await client.request('feedback/save', {
      classification: 'bug',
      savePath,
      extraLogFiles: [small, large],
    });
    const { attachments } = report(savePath);
    expect(attachments).toMatchObject([
      { path: small, isCut: false, text: expect.stringMatching(/^started\napi_key=/) },
      { path: large, size: 500_000, isCut: true },
    ]);
    expect(attachments[1]?.text).toHaveLength(256 * 1024);
    expect(readFileSync(savePath, 'utf8')).not.toContain(KEY);
  });

  test('without includeLogs, has nothing that the user has written', async () => {
    const { client, savePath } = await serverWithThread();
    await client.request('thread/name/set', { threadId: idOf(1), name: 'my divorce' });
    await client.request('thread/goal/set', {
      threadId: idOf(1),
      objective: 'win my case',
      status: 'paused',
    });
    const mode = {
      mode: 'default' as const,
      settings: { model: 'test-model', developer_instructions: 'be kind to me' },
    };
    await client.request('thread/settings/update', { threadId: idOf(1), collaborationMode: mode });
    await client.request('feedback/save', { classification: 'bug', savePath, threadId: idOf(1) });
    const text = readFileSync(savePath, 'utf8');
    for (const own of ['my key is', 'my divorce', 'win my case', 'be kind to me', 'private words'])
      expect(text).not.toContain(own);
    await client.request('feedback/save', {
      classification: 'bug',
      includeLogs: true,
      savePath: `${savePath}2`,
      threadId: idOf(1),
    });
    expect(report(`${savePath}2`)).toMatchObject({
      thread: { name: 'my divorce', goal: { objective: 'win my case' } },
    });
  });

  test('masks a private key wherever it stands in an attached file', async () => {
    const { client, savePath, folder } = await serverWithThread();
    const lines = Array.from(
      { length: 50 },
      (_, index) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC${index % 10}`,
    );
    const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join(
      '\n',
    );
    const files = [0, 100, 1000, 3000].map((before, index) => {
      const file = join(folder, `${index}.log`);
      writeFileSync(
        file,
        `${'x'.repeat(79)}\n`.repeat(205).slice(before) + key + 'the end\n'.repeat(3000),
      );
      return file;
    });
    await client.request('feedback/save', {
      classification: 'bug',
      savePath,
      extraLogFiles: files,
    });
    const { attachments } = report(savePath);
    for (const { text } of attachments) {
      expect(text).toContain('the end');
      expect(text).not.toContain('MIIEvQ');
    }
  });

  test('masks the keys of providers and MCP servers, and secrets at the end of what is shown of a long text', async () => {
    const config = `model = "test-model"
model_provider = "test"
openai_base_url = "https://me:password-in-a-url@gateway.example/v1"
[model_providers.test]
base_url = "http://127.0.0.1:9"
experimental_bearer_token = "gatewaykey"
[mcp_servers.s]
url = "https://mcp.example"
enabled = false
http_headers = { "X-Own" = "header-value-of-the-server" }
`;
    const model = new TestModel(response(message('I see.')));
    const login = {
      's https://mcp.example': {
        tokens: { access_token: 'token-of-the-login', token_type: 'Bearer' },
      },
    };
    const server = await startServer({
      config,
      model,
      env: { MY_TOKEN: 'tok-from-the-environment' },
      files: {
        'home/auth.json': '{"OPENAI_API_KEY":"storedkey12"}',
        'home/heddle-mcp.credentials.json': JSON.stringify(login),
      },
    });
    const secrets = [
      'gatewaykey',
      'header-value-of-the-server',
      'token-of-the-login',
      'storedkey12',
      'password-in-a-url',
    ];
    await server.client.request('thread/start', {});
    await server.client.turn(
      idOf(1),
      `${secrets.join(' and ')} ${'x '.repeat(1990)}tok-from-the-environment ${'y '.repeat(9000)}`,
    );
    const savePath = join(server.folder, 'report.json');
    await server.client.request('feedback/save', {
      classification: 'bug',
      includeLogs: true,
      savePath,
      threadId: idOf(1),
    });
    const text = readFileSync(savePath, 'utf8');
    for (const secret of [...secrets, 'tok-from']) expect(text).not.toContain(secret);
    expect(text).toContain(' and ');
  });

  test.each([
    [4_100, 4_096],
    [5_000, 4_096],
    [8_192, 4_096],
    [9_000, 4_096],
  ])('shows the beginning of a text of %i characters', async (length, shown) => {
    const { client, savePath, model } = await serverWithThread();
    model.push(response(message('x'.repeat(length))));
    await client.turn(idOf(1), 'go');
    await client.request('feedback/save', {
      classification: 'bug',
      includeLogs: true,
      savePath,
      threadId: idOf(1),
    });
    expect(report(savePath).items.at(-1)).toMatchObject({
      item: { text: `${'x'.repeat(shown)}…` },
    });
  });

  test('does not show the beginning of a secret that was cut off, however much is masked before it', async () => {
    const secret = 'tok-from-the-environment-'.repeat(4);
    const filler = `${'y'.repeat(3_000)} `;
    const start = `${secret} `.repeat(51);
    const text = `${start}${filler}${'z '.repeat((8_180 - start.length - filler.length) >> 1)}${secret}`;
    const server = await startServer({
      model: new TestModel(response(message(text))),
      env: { MY_TOKEN: secret },
    });
    await server.client.request('thread/start', {});
    await server.client.turn(idOf(1), 'go');
    const savePath = join(server.folder, 'report.json');
    await server.client.request('feedback/save', {
      classification: 'bug',
      includeLogs: true,
      savePath,
      threadId: idOf(1),
    });
    expect(readFileSync(savePath, 'utf8')).not.toContain('tok-from');
  });

  test('has only the beginning of a long key', async () => {
    const call = functionCall('mine', { ['k'.repeat(1_000_000)]: 'v', ['l'.repeat(5_000)]: 'w' });
    const server = await startServer({
      model: new TestModel(response(call), response(message('Yes.'))),
    });
    const { client } = server;
    await client.request('thread/start', {
      dynamicTools: [{ name: 'mine', description: 'Mine.', inputSchema: {} }],
    });
    const { turn } = await client.request('turn/start', { threadId: idOf(1), input: text('go') });
    answer(client, await question(client, 'item/tool/call'), { contentItems: [], success: true });
    await client.turnCompleted(turn.id);
    const savePath = join(server.folder, 'report.json');
    await client.request('feedback/save', {
      classification: 'bug',
      includeLogs: true,
      savePath,
      threadId: idOf(1),
    });
    expect(statSync(savePath).size).toBeLessThan(50_000);
    const shown = report(savePath).items.find((each) => JSON.stringify(each).includes('kkkk')) as {
      item: { arguments: object };
    };
    expect(Object.keys(shown.item.arguments)).toEqual([
      `${'k'.repeat(4_096)}…`,
      `${'l'.repeat(4_096)}…`,
    ]);
  });

  test('has only the beginning of an item with many parts', async () => {
    const { client, savePath, model } = await serverWithThread();
    model.push(response(message('Yes.')));
    const input = Array.from({ length: 5_000 }, (_, index) => ({
      type: 'text' as const,
      text: `part ${index}`,
      text_elements: [],
    }));
    await client.turn(idOf(1), input);
    await client.request('feedback/save', {
      classification: 'bug',
      includeLogs: true,
      savePath,
      threadId: idOf(1),
    });
    expect(statSync(savePath).size).toBeLessThan(100_000);
  });

  test('leaves no file if the disk is full', async () => {
    const { client, savePath, folder } = await serverWithThread();
    const probe = await open(join(folder, 'probe'), 'w');
    const failing = vi.spyOn(Object.getPrototypeOf(probe), 'sync');
    await probe.close();
    failing.mockRejectedValueOnce(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    const params = { classification: 'bug', savePath };
    expect((await client.refusal('feedback/save', params)).message).toContain('the disk is full');
    expect(await client.request('feedback/save', params)).toMatchObject({ savedPath: savePath });
  });

  test('without a thread, answers with an id of its own', async () => {
    const { client, savePath } = await serverWithThread();
    const { threadId } = await client.request('feedback/save', {
      classification: 'other',
      savePath,
    });
    expect(threadId).toMatch(/^[0-9a-f-]{36}$/);
    expect(report(savePath)).toMatchObject({ threadId: null, thread: null });
  });

  test.each<[string, (place: { folder: string; home: string }) => object, number, RegExp]>([
    [
      'a relative path',
      () => ({ savePath: 'report.json' }),
      -32600,
      /^params\.savePath: "report\.json" is not an absolute path$/,
    ],
    [
      'a path that is taken',
      ({ folder }) => ({ savePath: join(folder, 'taken') }),
      -32603,
      /there is already a file/,
    ],
    [
      'a link',
      ({ folder }) => ({ savePath: join(folder, 'link') }),
      -32603,
      /there is already a file/,
    ],
    [
      'a folder that does not exist',
      ({ folder }) => ({ savePath: join(folder, 'no', 'x') }),
      -32603,
      /folder does not exist/,
    ],
    [
      "the path of the server's database",
      ({ home }) => ({ savePath: join(home, 'heddle.db-journal') }),
      -32603,
      /not saved/,
    ],
    ['an unknown thread', () => ({ threadId: idOf(77) }), -32600, /^thread not found/],
    [
      'an empty classification',
      () => ({ classification: ' ' }),
      -32600,
      /classification must not be empty/,
    ],
    [
      'a relative file to attach',
      () => ({ extraLogFiles: ['x.log'] }),
      -32600,
      /extraLogFiles\[0\].*not an absolute path/,
    ],
    [
      'a missing file to attach',
      ({ folder }) => ({ extraLogFiles: [join(folder, 'none')] }),
      -32600,
      /extraLogFiles\[0\]: there is no file/,
    ],
    [
      'a folder to attach',
      ({ folder }) => ({ extraLogFiles: [folder] }),
      -32603,
      /extraLogFiles\[0\]/,
    ],
    [
      'the database to attach',
      ({ home }) => ({ extraLogFiles: [join(home, 'heddle.db')] }),
      -32603,
      /extraLogFiles\[0\]/,
    ],
    [
      'too many files',
      () => ({ extraLogFiles: Array.from({ length: 11 }, () => '/x') }),
      -32600,
      /at most 10 files/,
    ],
    [
      'a long reason',
      () => ({ reason: 'x'.repeat(70_000) }),
      -32600,
      /params\.reason must have at most/,
    ],
  ])('refuses %s, and writes nothing', async (_, change, code, reason) => {
    const { client, folder, home, savePath } = await serverWithThread();
    writeFileSync(join(folder, 'taken'), 'mine');
    symlinkSync(join(folder, 'target'), join(folder, 'link'));
    const error = await client.refusal('feedback/save', {
      classification: 'bug',
      savePath,
      ...change({ folder, home }),
    });
    expect(error).toMatchObject({ code, message: expect.stringMatching(reason) });
    expect([existsSync(savePath), existsSync(join(folder, 'target'))]).toEqual([false, false]);
    expect(readFileSync(join(folder, 'taken'), 'utf8')).toBe('mine');
  });
});

test('feedback/upload is refused, and says what to do instead', async () => {
  const { client } = await startServer();
  expect(
    await client.refusal('feedback/upload', { classification: 'bug', includeLogs: true }),
  ).toEqual({
    code: -32600,
    message:
      'feedback/upload is not supported by this server: it sends nothing to anybody. feedback/save writes the report to a file',
    data: { code: 'not_supported' },
  });
});
