import { describe, expect, test } from 'vitest';
import { idOf } from '../support/counting-ids.ts';
import type { TestClient } from '../support/test-client.ts';
import { asked, conversation, message, response, TestModel } from '../support/test-model.ts';
import { startServer, type TestServer } from '../support/test-server.ts';

const SKIPPED = 'skipped an invalid JSON-RPC message';
const SKIPPED_ID = 'skipped a request whose id is neither a string nor an integer';

/** The line that answers a request for the loaded threads, of which there are none. */
function answerTo(idText: string): string {
  return `{"id":${idText},"result":{"data":[],"nextCursor":null}}`;
}

/** The lines that the server sends for this input, up to the response to one more request. */
async function linesAfter(
  { client }: TestServer,
  ...chunks: (string | Buffer)[]
): Promise<string[]> {
  const before = client.lines.length;
  for (const chunk of chunks) client.input.write(chunk);
  await client.request('thread/loaded/list', {});
  return client.lines.slice(before, -1);
}

function loadedList(idText: string): string {
  return `{"id":${idText},"method":"thread/loaded/list","params":{}}\n`;
}

describe('ids come back unchanged', () => {
  test.each([
    '"abc"',
    '"7"',
    '7',
    '0',
    '-3',
    '2147483648',
    '""',
    '"a\\"b\\\\c"',
    '"é🧵"',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
  ])('%s', async (idText) => {
    expect(await linesAfter(await startServer(), loadedList(idText))).toEqual([answerTo(idText)]);
  });

  test('exactly, even with other numbers under the same key', async () => {
    const params = '{"id":1,"x":[{"id":2}],"y":"\\"id\\":3"}';
    const line = `{"params":${params},"id":9007199254740993,"more":{"id":4},"method":"thread/loaded/list"}\n`;
    expect(await linesAfter(await startServer(), line)).toEqual([answerTo('9007199254740993')]);
  });

  test('11 and "11" in flight together are two ids', async () => {
    const lines = await linesAfter(await startServer(), loadedList('11') + loadedList('"11"'));
    expect(lines.sort()).toEqual([answerTo('"11"'), answerTo('11')]);
  });

  test('the same id twice in flight is answered twice', async () => {
    const lines = await linesAfter(await startServer(), loadedList('5') + loadedList('5'));
    expect(lines).toEqual([answerTo('5'), answerTo('5')]);
  });

  test('also in refusals', async () => {
    const [line] = await linesAfter(
      await startServer(),
      '{"id":9007199254740993,"method":"nope","params":{}}\n',
    );
    expect(line).toBe(
      '{"id":9007199254740993,"error":{"code":-32600,"message":"unknown method: nope","data":{"code":"unknown_method"}}}',
    );
  });
});

describe('invalid lines are logged and skipped, and the next one is answered', () => {
  test.each([
    ['a null id', '{"id":null,"method":"thread/loaded/list","params":{}}', SKIPPED_ID],
    ['a float id', '{"id":1.5,"method":"thread/loaded/list","params":{}}', SKIPPED_ID],
    [
      'an id past 64 bits',
      '{"id":9223372036854775808,"method":"thread/loaded/list","params":{}}',
      SKIPPED_ID,
    ],
    ['an exponent for an id', '{"id":1e20,"method":"thread/loaded/list","params":{}}', SKIPPED_ID],
    ['an object for an id', '{"id":{},"method":"thread/loaded/list","params":{}}', SKIPPED_ID],
    ['true for an id', '{"id":true,"method":"thread/loaded/list","params":{}}', SKIPPED_ID],
    ['a batch', '[{"id":1,"method":"thread/loaded/list","params":{}}]', SKIPPED],
    ['an empty batch', '[]', SKIPPED],
    ['a scalar', '5', SKIPPED],
    ['null', 'null', SKIPPED],
    ['a text', '"thread/loaded/list"', SKIPPED],
    ['an object without anything', '{}', SKIPPED],
    ['a method that is no text', '{"id":1,"method":5,"params":{}}', SKIPPED],
    ['broken JSON', '{"id":1,"method":"thread/loaded/list","params":{}', SKIPPED],
    ['two values', '{"id":1,"method":"x"} {"id":2,"method":"x"}', SKIPPED],
    ['JSON with a comment', '{"id":1,"method":"x"} // y', SKIPPED],
    ['words', 'hello server', SKIPPED],
    ['a NUL', '\u0000', SKIPPED],
    ['a byte order mark', '\ufeff{"id":1,"method":"thread/loaded/list","params":{}}', SKIPPED],
    ['deep nesting', '['.repeat(200_000), SKIPPED],
  ])('%s', async (_name, line, logged) => {
    const server = await startServer();
    expect(await linesAfter(server, `${line}\n`)).toEqual([]);
    expect(server.log.warnings()).toEqual([logged]);
  });

  test.each(['Content-Length: 12\r', 'content-type: application/json\r'])(
    'the header %j, with the option that reads headers',
    async (header) => {
      const server = await startServer();
      expect(await linesAfter(server, `${header}\n`)).toEqual([]);
      expect(
        server.log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields),
      ).toEqual([
        {
          reason: 'it is a header: start heddle with --framing content-length to send headers',
          length: header.length,
        },
      ]);
    },
  );

  test('bytes that are not UTF-8', async () => {
    const server = await startServer();
    const line = Buffer.concat([
      Buffer.from('{"id":1,"method":"thread/loaded/list","params":{"x":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}\n'),
    ]);
    expect(await linesAfter(server, line)).toEqual([]);
    expect(server.log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { text: 'skipped a message', fields: { reason: 'not_utf8' } },
    ]);
  });

  test('a line beyond the limit', async () => {
    const server = await startServer();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const pieces = Array.from({ length: 33 }, () => piece);
    expect(
      await linesAfter(server, '{"id":1,"method":"', ...pieces, '"}\n', loadedList('2')),
    ).toEqual([answerTo('2')]);
    expect(server.log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { text: 'skipped a message', fields: { reason: 'too_long', bytesMax: 32 * 1024 * 1024 } },
    ]);
  });

  test('blank lines, which are not even logged', async () => {
    const server = await startServer();
    expect(await linesAfter(server, '\n\r\n   \n\t\n')).toEqual([]);
    expect(server.log.warnings()).toEqual([]);
  });

  test('notifications that are unknown, malformed, or reserved by JSON-RPC', async () => {
    const server = await startServer();
    const lines = [
      '{"method":"no/such/notification","params":{}}',
      '{"method":"initialized","params":5}',
      '{"method":"initialized","params":[1,2]}',
      '{"method":"$/cancelRequest"}',
      '{"method":"$/cancelRequest","params":null}',
      '{"method":"$/cancelRequest","params":{"id":null}}',
      '{"method":"$/cancelRequest","params":{"id":1}}',
      '{"method":"$/progress","params":{}}',
      '{"method":"$/setTrace","params":{"value":"verbose"}}',
    ];
    expect(await linesAfter(server, `${lines.join('\n')}\n`)).toEqual([]);
    expect(server.log.warnings()).toEqual([]);
  });

  test('a request for a method that JSON-RPC reserves is refused like an unknown one', async () => {
    const lines = await linesAfter(
      await startServer(),
      '{"id":1,"method":"$/cancelRequest","params":{"id":2}}\n',
    );
    expect(lines).toEqual([expect.stringContaining('"message":"unknown method: $/cancelRequest"')]);
  });

  test('answers to requests that were never made', async () => {
    const server = await startServer();
    const lines = [
      '{"id":1,"result":{}}',
      '{"id":"x","error":{}}',
      '{"id":null,"error":{"message":"x"}}',
      '{"id":1}',
    ];
    expect(await linesAfter(server, `${lines.join('\n')}\n`)).toEqual([]);
  });
});

describe('unusual but valid JSON', () => {
  test('CRLF, and surrounding white space', async () => {
    expect(await linesAfter(await startServer(), `  ${loadedList('1').trim()} \t\r\n`)).toEqual([
      answerTo('1'),
    ]);
  });

  test('the last of duplicate keys counts, also for the id', async () => {
    const line =
      '{"id":1,"method":"nope","id":9007199254740993,"method":"thread/loaded/list","params":[],"params":{}}\n';
    expect(await linesAfter(await startServer(), line)).toEqual([answerTo('9007199254740993')]);
  });

  test('__proto__ and constructor are ordinary keys', async () => {
    const line =
      '{"id":1,"method":"thread/loaded/list","__proto__":{"method":"x"},"params":{"__proto__":{"limit":"x"},"constructor":1}}\n';
    expect(await linesAfter(await startServer(), line)).toEqual([answerTo('1')]);
    expect(({} as { limit?: unknown }).limit).toBe(undefined);
  });

  test('__proto__ in a config is refused or without effect', async () => {
    const { client } = await startServer();
    client.send(
      '{"id":"p","method":"thread/start","params":{"config":{"__proto__":{"model":"evil"},"__proto__.model":"evil"}}}',
    );
    const { result } = await client.first('p', ({ id }) => id === 'p');
    expect(JSON.stringify(result ?? {})).not.toContain('evil');
    expect(({} as { model?: unknown }).model).toBe(undefined);
  });

  test('lone surrogates come back escaped, and do not break the line', async () => {
    const server = await startServer({ model: new TestModel(response(message('got \ud83e it'))) });
    await server.client.request('thread/start', {});
    server.client.send(
      `{"id":"t","method":"turn/start","params":{"threadId":"${idOf(1)}","input":[{"type":"text","text":"a\\ud83eb"}]}}`,
    );
    const { turn } = await server.client.waitFor('turn/completed');
    expect(turn).toMatchObject({ status: 'completed', items: [{ text: 'got \ud83e it' }] });
    expect(conversation(server.model.request(1))).toEqual([asked('a\ud83eb')]);
    const { thread } = await server.client.request('thread/read', {
      threadId: idOf(1),
      includeTurns: true,
    });
    expect(thread.preview).toBe('a\ud83eb');
  });
});

describe('lines that the client writes in pieces', () => {
  test('split at every byte of a request with characters of every length', async () => {
    const server = await startServer();
    const bytes = Buffer.from('{"id":"é€🧵","method":"thread/loaded/list","params":{}}\n');
    for (let at = 1; at < bytes.length; at++) {
      expect(await linesAfter(server, bytes.subarray(0, at), bytes.subarray(at))).toEqual([
        answerTo('"é€🧵"'),
      ]);
    }
  });

  test('a request of 5 MB, in pieces', async () => {
    const server = await startServer();
    const params = JSON.stringify({ ignored: 'é'.repeat(2_500_000) });
    const bytes = Buffer.from(`{"id":1,"method":"thread/loaded/list","params":${params}}\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_537) }, (_, index) =>
      bytes.subarray(index * 65_537, (index + 1) * 65_537),
    );
    expect(await linesAfter(server, ...pieces)).toEqual([answerTo('1')]);
  });

  test('a request without a line end is answered when the input ends', async () => {
    const { client } = await startServer();
    client.input.write(loadedList('"last"').trim());
    await client.close();
    expect(client.lines.at(-1)).toBe(answerTo('"last"'));
  });
});

describe('the end of the input', () => {
  test('all requests that were read are answered', async () => {
    const { client } = await startServer();
    const ids = Array.from({ length: 50 }, (_, index) => `"r${index}"`);
    client.input.write(ids.map(loadedList).join(''));
    await client.close();
    expect(client.lines.slice(1)).toEqual(ids.map(answerTo));
  });

  test('the end inside an invalid line is an ordinary end', async () => {
    const { client } = await startServer();
    client.input.write('{"id":901,"method":"thread/loaded/li');
    await client.close();
    expect(client.lines).toHaveLength(1);
  });

  test('before the handshake', async () => {
    const { client } = await startServer({ handshake: false });
    await client.close();
    expect(client.lines).toEqual([]);
  });

  test('an input that fails has ended', async () => {
    const { client, connect } = await startServer();
    client.input.destroy(new Error('reset'));
    await client.ended;
    const other: TestClient = await connect();
    await other.request('thread/loaded/list', {});
  });

  test('an output that fails ends the connection, not the server', async () => {
    const { client, connect } = await startServer();
    client.output.destroy(new Error('broken pipe'));
    client.send(loadedList('1').trim());
    await client.ended;
    const other = await connect();
    await other.request('thread/loaded/list', {});
  });
});
