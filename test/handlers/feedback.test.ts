import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { idOf } from '../support/counting-ids.ts';
import { START_MS } from '../support/expected.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const KEY = 'sk-abcdefghijklmnopqrstuvwxyz0123456789';

/** A server with a thread in which the user has written a key. */
async function serverWithThread(): Promise<TestServer & { savePath: string }> {
  const server = await startServer({ model: new TestModel(response(message('I see.'))), env: { MY_TOKEN: 'tok-from-the-environment' } });
  await server.client.request('thread/start', { developerInstructions: 'private words' });
  await server.client.turn(idOf(1), `my key is ${KEY} and tok-from-the-environment`);
  return { ...server, savePath: join(server.folder, 'report.json') };
}

function report(path: string): Record<string, unknown> & { items: unknown[]; logs: string[]; attachments: { text: string }[] } {
  return JSON.parse(readFileSync(path, 'utf8'));
}

describe('feedback/save', () => {
  test('writes a report that only the user can read', async () => {
    const { client, savePath } = await serverWithThread();
    const params = { classification: 'bug', reason: 'It hung.', tags: { os: 'linux' }, includeLogs: false, savePath, threadId: idOf(1) };
    expect(await client.request('feedback/save', params)).toEqual({ savedPath: savePath, threadId: idOf(1), promptHash: null });
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
    await client.request('feedback/save', { classification: 'bug', includeLogs: true, savePath, threadId: idOf(1) });
    const { items, logs } = report(savePath);
    expect(items).toMatchObject([{ item: { type: 'userMessage' } }, { item: { type: 'agentMessage', text: 'I see.' } }]);
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
    await client.request('feedback/save', { classification: 'bug', savePath, extraLogFiles: [small, large] });
    const { attachments } = report(savePath);
    expect(attachments).toMatchObject([
      { path: small, isCut: false, text: expect.stringMatching(/^started\napi_key=/) },
      { path: large, size: 500_000, isCut: true },
    ]);
    expect(attachments[1]?.text).toHaveLength(256 * 1024);
    expect(readFileSync(savePath, 'utf8')).not.toContain(KEY);
  });

  test('without a thread, answers with an id of its own', async () => {
    const { client, savePath } = await serverWithThread();
    const { threadId } = await client.request('feedback/save', { classification: 'other', savePath });
    expect(threadId).toMatch(/^[0-9a-f-]{36}$/);
    expect(report(savePath)).toMatchObject({ threadId: null, thread: null });
  });

  test.each<[string, (place: { folder: string; home: string }) => object, number, RegExp]>([
    ['a relative path', () => ({ savePath: 'report.json' }), -32600, /^params\.savePath: "report\.json" is not an absolute path$/],
    ['a path that is taken', ({ folder }) => ({ savePath: join(folder, 'taken') }), -32603, /there is already a file/],
    ['a link', ({ folder }) => ({ savePath: join(folder, 'link') }), -32603, /there is already a file/],
    ['a folder that does not exist', ({ folder }) => ({ savePath: join(folder, 'no', 'x') }), -32603, /folder does not exist/],
    ["the path of the server's database", ({ home }) => ({ savePath: join(home, 'heddle.db-journal') }), -32603, /not saved/],
    ['an unknown thread', () => ({ threadId: idOf(77) }), -32600, /^thread not found/],
    ['an empty classification', () => ({ classification: ' ' }), -32600, /classification must not be empty/],
    ['a relative file to attach', () => ({ extraLogFiles: ['x.log'] }), -32600, /extraLogFiles\[0\].*not an absolute path/],
    [
      'a missing file to attach',
      ({ folder }) => ({ extraLogFiles: [join(folder, 'none')] }),
      -32600,
      /extraLogFiles\[0\]: there is no file/,
    ],
    ['a folder to attach', ({ folder }) => ({ extraLogFiles: [folder] }), -32603, /extraLogFiles\[0\]/],
    ['the database to attach', ({ home }) => ({ extraLogFiles: [join(home, 'heddle.db')] }), -32603, /extraLogFiles\[0\]/],
    ['too many files', () => ({ extraLogFiles: Array.from({ length: 11 }, () => '/x') }), -32600, /at most 10 files/],
    ['a long reason', () => ({ reason: 'x'.repeat(70_000) }), -32600, /params\.reason must have at most/],
  ])('refuses %s, and writes nothing', async (_, change, code, reason) => {
    const { client, folder, home, savePath } = await serverWithThread();
    writeFileSync(join(folder, 'taken'), 'mine');
    symlinkSync(join(folder, 'target'), join(folder, 'link'));
    const error = await client.refusal('feedback/save', { classification: 'bug', savePath, ...change({ folder, home }) });
    expect(error).toMatchObject({ code, message: expect.stringMatching(reason) });
    expect([existsSync(savePath), existsSync(join(folder, 'target'))]).toEqual([false, false]);
    expect(readFileSync(join(folder, 'taken'), 'utf8')).toBe('mine');
  });
});

test('feedback/upload is refused, and says what to do instead', async () => {
  const { client } = await startServer();
  expect(await client.refusal('feedback/upload', { classification: 'bug', includeLogs: true })).toEqual({
    code: -32600,
    message: 'feedback/upload is not supported by this server: it sends nothing to anybody. feedback/save writes the report to a file',
    data: { code: 'not_supported' },
  });
});
