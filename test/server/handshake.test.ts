import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROTOCOL_VERSION } from '../../src/protocol/protocol-version.ts';
import { idOf } from '../support/counting-ids.ts';
import { CLIENT_INFO, text } from '../support/test-client.ts';
import { message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';
import { threadWith } from '../support/thread-with.ts';

const NOT_INITIALIZED = {
  code: -32600,
  message: 'Not initialized',
  data: { code: 'not_initialized' },
};

test('every request before initialize is refused, of known and unknown methods', async () => {
  const { client } = await startServer({ handshake: false });
  expect([
    await client.refusal('thread/start', {}),
    await client.refusal('turn/start', { threadId: idOf(1), input: text('hi') }),
    await client.refusal('thread/list', { limit: 'wrong' }),
    await client.refusal('no/such/method', {}),
  ]).toEqual([NOT_INITIALIZED, NOT_INITIALIZED, NOT_INITIALIZED, NOT_INITIALIZED]);
});

test('a refused initialize can be tried again', async () => {
  const { client } = await startServer({ handshake: false });
  expect([
    await client.refusal('initialize'),
    await client.refusal('initialize', {}),
    await client.refusal('initialize', { clientInfo: { name: 'x' } }),
    await client.refusal('initialize', { clientInfo: { name: 'bad\rname', version: '1' } }),
    await client.refusal('initialize', { clientInfo: { name: '', version: '1' } }),
    await client.refusal('initialize', {
      clientInfo: CLIENT_INFO,
      capabilities: { experimentalApi: 'yes' },
    }),
  ]).toEqual(
    [
      /^params is missing/,
      /^params\.clientInfo is missing/,
      /^params\.clientInfo\.version is missing/,
      /^params\.clientInfo\.name: "bad\\rname"/,
      /^params\.clientInfo\.name: /,
      /^params\.capabilities\.experimentalApi: "yes" is not a boolean/,
    ].map((pattern) => ({
      code: -32600,
      message: expect.stringMatching(pattern),
      data: { code: 'invalid_params' },
    })),
  );
  expect(await client.refusal('thread/list', {})).toEqual(NOT_INITIALIZED);
  await client.initialize();
  await client.request('thread/list', {});
});

test('a second initialize is refused, and the connection stays as it was', async () => {
  const { client } = await startServer();
  expect(await client.refusal('initialize', { clientInfo: CLIENT_INFO })).toEqual({
    code: -32600,
    message: 'Already initialized',
    data: { code: 'already_initialized' },
  });
  await client.request('thread/resume', { threadId: '', history: [] }).catch(() => {});
  expect(await client.refusal('thread/resume', { threadId: '', history: [] })).toMatchObject({
    data: { code: 'empty_history' },
  });
});

test('initialize returns the name of the server and the methods that it serves', async () => {
  const { client, home } = await startServer({ handshake: false });
  const answer = await client.request('initialize', {
    clientInfo: { name: 'my_editor', version: '9.8.7\n' },
  });
  expect(answer).toEqual({
    userAgent: expect.stringMatching(
      new RegExp(
        `^my_editor/${PROTOCOL_VERSION.replaceAll('.', '\\.')} \\(.+; .+\\) heddle/0\\.0\\.1 \\(my_editor; 9\\.8\\.7\\?\\)$`,
      ),
    ),
    codexHome: home,
    platformFamily: 'unix',
    platformOs: 'linux',
    protocolVersion: PROTOCOL_VERSION,
    serverInfo: { name: 'heddle', version: '0.0.1' },
    capabilities: {
      methods: expect.objectContaining({
        turn: ['turn/interrupt', 'turn/settings/update', 'turn/start', 'turn/steer'],
        initialize: ['initialize'],
      }),
      sandbox: 'bubblewrap',
      transports: ['stdio', 'ws', 'unix'],
      limits: { lineBytes: 32 * 1024 * 1024, requestsInFlight: 8192, inputChars: 1_048_576 },
    },
  });
  expect(client.messages).toHaveLength(1);
});

test('requests are served right after the response, without waiting for initialized', async () => {
  const { client } = await startServer({ handshake: false });
  client.send(
    JSON.stringify({ id: 'a', method: 'initialize', params: { clientInfo: CLIENT_INFO } }),
  );
  client.send(JSON.stringify({ id: 'b', method: 'thread/loaded/list', params: {} }));
  expect(await client.first('b', ({ id }) => id === 'b')).toEqual({
    id: 'b',
    result: { data: [], nextCursor: null },
  });
  expect(client.messages.map(({ id }) => id)).toEqual(['a', 'b']);
});

test('a client gets all notifications but those that it has opted out of', async () => {
  const server = await startServer({
    model: new TestModel(response(message('ok'))),
    capabilities: {
      optOutNotificationMethods: [
        'item/agentMessage/delta',
        'thread/status/changed',
        'no/such/method',
      ],
    },
  });
  const other = await server.connect();
  const { thread } = await server.client.request('thread/start', {});
  await other.request('thread/resume', { threadId: thread.id });
  const { id } = await server.client.turn(thread.id, 'hi');
  await other.turnCompleted(id);
  const methods = (client: typeof other) =>
    new Set(client.messages.flatMap((message) => message.method ?? []));
  expect([...methods(server.client)].sort()).toEqual([
    'item/completed',
    'item/started',
    'thread/started',
    'thread/tokenUsage/updated',
    'turn/completed',
    'turn/started',
  ]);
  expect(methods(other)).toContain('item/agentMessage/delta');
});

test('a connection gets no notifications before its handshake', async () => {
  const server = await startServer();
  const silent = await server.connect({ handshake: false });
  const { thread } = await threadWith(server, [['one', 'first']]);
  await server.client.request('thread/name/set', { threadId: thread.id, name: 'x' });
  await server.client.waitFor('thread/name/updated');
  expect(await silent.refusal('thread/list', {})).toEqual(NOT_INITIALIZED);
  expect(silent.messages).toHaveLength(1);
});

test('warnings about the configuration follow the handshake, for its client only', async () => {
  const server = await startServer({
    config: 'sandbox_mode = "open"\nmodel_provider = "scripted"\n',
  });
  const warning = await server.client.waitFor('configWarning');
  expect(warning.summary).toContain('sandbox_mode');
  const other = await server.connect();
  await other.waitFor('configWarning');
  expect(server.client.notifications('configWarning')).toHaveLength(1);
});

test('warnings about invalid rules follow the handshake, each with its place', async () => {
  const rules = 'prefix_rule(pattern=["ls"])\n\nprefix_rule(pattern=[])\n';
  const server = await startServer({ files: { 'home/rules/a.rules': rules } });
  const path = join(server.home, 'rules', 'a.rules');
  expect(await server.client.waitFor('configWarning')).toEqual({
    summary: `invalid rules: ${path}:3: pattern must be a non-empty list of words`,
    details:
      'Until you correct it, every command needs approval. Commands are refused if the approval policy does not allow the server to ask.',
    path,
    range: { start: { line: 3, column: 1 }, end: { line: 3, column: 1 } },
  });
});

test('without any configuration a client gets a warning that the embedded model answers', async () => {
  const { client } = await startServer({ config: '', model: null });
  expect((await client.waitFor('configWarning')).summary).toContain('the embedded model');
});

test('each client gets a notice about a deprecated setting after its handshake', async () => {
  const server = await startServer({ overrides: ['features.guardian_approval=true'] });
  const other = await server.connect();
  for (const client of [server.client, other]) {
    const { summary } = await client.waitFor('deprecationNotice');
    expect(summary).toContain('guardian_approval');
    expect(client.notifications('deprecationNotice')).toHaveLength(1);
  }
});
