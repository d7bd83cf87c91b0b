import { describe, expect, test } from 'vitest';
import { readParamNames } from '../../src/protocol/generated/param-names.js';
import { UnknownNames } from '../../src/server/unknown-names.ts';
import { RecordingLog } from '../support/recording-log.ts';
import { startServer } from '../support/test-server.ts';

const TEXT = 'the protocol has no such field: the server ignores it';
const REST = 'further unknown fields of this connection are not reported';

/** What the log has after these requests of one connection. */
function reported(...requests: [method: string, params: unknown][]): unknown[] {
  const log = new RecordingLog();
  const names = new UnknownNames(log);
  const connection = {};
  for (const [method, params] of requests) names.heed(connection, method, params);
  return log.lines.map(({ text, fields }) => (text === TEXT ? fields : text));
}

test('over the wire: a field that the protocol does not have is reported once, those of the handshake too', async () => {
  const { client, log } = await startServer({ handshake: false });
  await client.initialize({ experimentalApi: true, experimentalAPI: true } as object);
  for (const _time of [1, 2])
    await client.request('thread/start', { aprovalPolicy: 'never' } as object);
  await client.refusal('thread/read', { threadid: 'x', _meta: { a: 1 } } as never);
  expect(
    log.lines
      .filter(({ text }) => text === TEXT)
      .map(({ level, fields }) => ({ level, ...fields })),
  ).toEqual([
    {
      level: 'warn',
      method: 'initialize',
      field: 'params.capabilities.experimentalAPI',
      nearest: 'experimentalApi',
    },
    {
      level: 'warn',
      method: 'thread/start',
      field: 'params.aprovalPolicy',
      nearest: 'approvalPolicy',
    },
    { level: 'warn', method: 'thread/read', field: 'params.threadid', nearest: 'threadId' },
  ]);
});

describe('reports', () => {
  test.each<[string, unknown, object[]]>([
    [
      'thread/start',
      { approval_policy: 'never' },
      [{ field: 'params.approval_policy', nearest: 'approvalPolicy' }],
    ],
    [
      'thread/start',
      { sandboxPolicy: {} },
      [{ field: 'params.sandboxPolicy', nearest: 'sandbox' }],
    ],
    [
      'turn/start',
      { sandbox: 'read-only' },
      [{ field: 'params.sandbox', nearest: 'sandboxPolicy' }],
    ],
    [
      'turn/start',
      { input: [{ type: 'text', txt: '' }] },
      [{ field: 'params.input[0].txt', nearest: 'text' }],
    ],
    [
      'turn/start',
      { sandboxPolicy: { networkAcess: true } },
      [{ field: 'params.sandboxPolicy.networkAcess', nearest: 'networkAccess' }],
    ],
    [
      'thread/start',
      { zzzzzzzzzz: 1, ['k'.repeat(1000)]: 1 },
      [{ field: 'params.zzzzzzzzzz' }, { field: `params.${'k'.repeat(193)}` }],
    ],
    [
      'thread/start',
      JSON.parse('{"constructor":1,"hasOwnProperty":1}'),
      [{ field: 'params.constructor' }, { field: 'params.hasOwnProperty' }],
    ],
  ])('%s %j', (method, params, expected) => {
    expect(reported([method, params])).toEqual(expected.map((fields) => ({ method, ...fields })));
  });

  test.each<[string, unknown]>([
    ['thread/start', { config: { aprovalPolicy: 1, a: { b: 1 } } }],
    [
      'thread/start',
      { dynamicTools: [{ name: 'a', description: '', inputSchema: { anything: { goes: 1 } } }] },
    ],
    [
      'turn/start',
      {
        outputSchema: { typ: 'object' },
        additionalContext: { mine: { kind: 'untrusted', value: '' } },
      },
    ],
    ['thread/resume', { history: [{ type: 'message', own: 1 }] }],
    ['thread/start', { _meta: {}, $trace: 1, 'x-request': 1, aprovalPolicy: null }],
    ['thread/start', ['a']],
    ['thread/start', 'text'],
    ['thread/start', undefined],
    ['no/such', { a: 1 }],
    ['constructor', { a: 1 }],
  ])('nothing of %s %j', (method, params) => {
    expect(reported([method, params])).toEqual([]);
  });
});

test('no name of the table is reported, at its own place', () => {
  const { methods, shapes } = readParamNames();
  const wrong: unknown[] = [];
  const value = (shape: number, depth: number): unknown =>
    shape < 0 || depth > 5
      ? 1
      : Object.fromEntries(
          Object.entries(shapes[shape] ?? {}).map(([name, inner]) => [
            name,
            depth % 2 ? [value(inner, depth + 1)] : value(inner, depth + 1),
          ]),
        );
  for (const [method, shape] of Object.entries(methods))
    wrong.push(...reported([method, value(shape, 0)]));
  expect(wrong).toEqual([]);
  expect(Object.keys(methods).length).toBeGreaterThan(90);
});

test('a connection has at most fifty lines about its fields, and a request costs little however many names it has', () => {
  const many = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`name${from + index}`, 1]));
  const lines = reported(
    ['thread/start', many(0, 40)],
    ['thread/start', many(0, 40)],
    ['thread/start', many(40, 100_000)],
  );
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe(REST);
});
