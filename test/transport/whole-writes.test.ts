import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAppServer } from '../../src/index.ts';
import { streamTransport } from '../../src/transport/stream-transport.ts';
import { tempFolder } from '../config/temp-folder.ts';
import { CLIENT_INFO } from '../support/test-client.ts';
import { message, response, TestModel } from '../support/test-model.ts';

const WHOLE_MAX = 64 * 1024;

/** A stream that keeps its chunks as they are written. */
function chunksOf(): { output: PassThrough; chunks: string[] } {
  const output = new PassThrough();
  const chunks: string[] = [];
  const { write } = output;
  output.write = (chunk: string | Buffer, ...rest: unknown[]) => {
    chunks.push(String(chunk));
    return Reflect.apply(write, output, [chunk, ...rest]);
  };
  output.resume();
  return { output, chunks };
}

test('every answer below 64 KiB is written at once', async () => {
  const { output, chunks } = chunksOf();
  const input = new PassThrough();
  const model = new TestModel(
    response(message('x'.repeat(20_000))),
    response(message('y'.repeat(20_000))),
  );
  const server = createAppServer({
    home: tempFolder(),
    transport: { input, output },
    model,
    env: {},
    overrides: ['model_provider=test'],
  });
  onTestFinished(async () => void (await server.close()));
  const messages = () =>
    chunks.flatMap((chunk) => chunk.split('\n').slice(0, -1)).map((line) => JSON.parse(line));
  let id = 0;
  const heard = async (isIt: (each: { id?: number; method?: string }) => boolean) => {
    while (!messages().some(isIt)) await new Promise((resolve) => setImmediate(resolve));
    return messages().find(isIt);
  };
  const ask = async (method: string, params: object) => {
    const own = id++;
    input.write(`${JSON.stringify({ id: own, method, params })}\n`);
    return (await heard((each) => each.id === own)).result;
  };
  await ask('initialize', { clientInfo: CLIENT_INFO, capabilities: { experimentalApi: true } });
  const { thread } = await ask('thread/start', {});
  for (const count of [1, 2]) {
    await ask('turn/start', { threadId: thread.id, input: [{ type: 'text', text: 'go' }] });
    await heard(
      () => messages().filter(({ method }) => method === 'turn/completed').length === count,
    );
  }
  const threadId = thread.id;
  await ask('thread/read', { threadId, includeTurns: true });
  await ask('thread/turns/list', { threadId });
  await ask('thread/items/list', { threadId });
  await ask('thread/list', {});
  await ask('thread/resume', { threadId });
  await ask('thread/fork', { threadId });
  await ask('config/read', {});
  await ask('model/list', {});
  // No chunk begins or ends within a message.
  expect(chunks.filter((chunk) => !chunk.endsWith('\n') || !chunk.startsWith('{'))).toEqual([]);
  expect(chunks.filter((chunk) => chunk.length > WHOLE_MAX)).toEqual([]);
});

describe.each(['lines', 'content-length'] as const)('in the framing %s', (framing) => {
  test('messages of one moment are joined up to 64 KiB, and none is divided', () => {
    const { output, chunks } = chunksOf();
    const transport = streamTransport({ input: new PassThrough(), output, framing });
    let seed = 3;
    const texts = Array.from({ length: 300 }, () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return JSON.stringify({ text: 'é'.repeat(seed % (seed % 7 === 0 ? 40_000 : 900)) });
    });
    transport.write(texts, () => {});
    expect(chunks.join('').match(/\{"text":"é*"\}/g)).toEqual(texts);
    for (const chunk of chunks) {
      const whole = chunk.match(/\{"text":"é*"\}/g) ?? [];
      expect(Buffer.byteLength(chunk) <= WHOLE_MAX || whole.length === 1).toBe(true);
      expect(chunk.endsWith(framing === 'lines' ? '}\n' : '}')).toBe(true);
    }
    expect(chunks.length).toBeLessThan(texts.length / 3);
  });

  test('a message that was made in parts is one chunk, unless it is longer', () => {
    const { output, chunks } = chunksOf();
    const transport = streamTransport({ input: new PassThrough(), output, framing });
    transport.writeLong?.(
      [Buffer.from('{"id":1,'), Buffer.from(`"result":"${'x'.repeat(60_000)}"`), Buffer.from('}')],
      () => {},
    );
    expect(chunks).toHaveLength(1);
    transport.writeLong?.(
      [Buffer.from('{"id":1,'), Buffer.from(`"result":"${'x'.repeat(70_000)}"`), Buffer.from('}')],
      () => {},
    );
    expect(chunks.length).toBeGreaterThan(2);
  });
});
