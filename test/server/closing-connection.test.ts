import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { KeepAlive } from '../../src/base/keep-alive.ts';
import { Connection } from '../../src/server/connection.ts';
import { streamTransport } from '../../src/transport/stream-transport.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLog } from '../support/recording-log.ts';

test('a connection that the server closes refuses the requests that are still open, each once', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answer: ((result: unknown) => void)[] = [];
  const connection = new Connection(0, {
    transport: streamTransport({ input, output }),
    log: new RecordingLog(),
    clock: new FakeClock(),
    keepAlive: new KeepAlive(),
    tap: null,
    onShortRequest: () => {},
    onRequest: (_connection, method) =>
      method === 'quick' ? Promise.resolve('done') : new Promise((resolve) => answer.push(resolve)),
    onResponse: async () => {},
    onOverdue: () => {},
    warned: () => null,
    onInputEnd: async () => {},
    onClosed: () => {},
  });
  connection.listen();
  let text = '';
  output.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  for (const [id, method] of [
    ['a', 'slow'],
    [7, 'slow'],
    ['b', 'quick'],
  ])
    input.write(`${JSON.stringify({ id, method, params: {} })}\n`);
  while (answer.length < 2) await new Promise((resolve) => setImmediate(resolve));
  const closed = connection.close();
  input.write(`${JSON.stringify({ id: 'late', method: 'quick', params: {} })}\n`);
  await closed;
  for (const resolve of answer) resolve('too late');
  await new Promise((resolve) => setImmediate(resolve));
  const refused = {
    code: -32603,
    message: 'The server is shutting down.',
    data: { code: 'shutting_down' },
  };
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { id: 'b', result: 'done' },
    { id: 'a', error: refused },
    { id: 7, error: refused },
  ]);
});
