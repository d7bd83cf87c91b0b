// @module-tag slow
import { describe, expect, test, vi } from 'vitest';
import type { Message } from '../support/test-client.ts';
import { JSON_TEXTS } from './json-texts.ts';
import { type HeddleProcess, place, startHeddle } from './support.ts';

const INVALID_REQUEST = -32600;
const THREAD_ID = '00000000-0000-7000-8000-000000000000';

function line(...parts: (string | Buffer)[]): Buffer {
  return Buffer.concat([...parts, '\n'].map((part) => Buffer.from(part)));
}

/**
 * Returns the messages that the server sends until it has answered one more request, which it must.
 */
async function replies(heddle: HeddleProcess, bytes: Buffer | string): Promise<Message[]> {
  const start = heddle.messages.length;
  heddle.input.write(bytes);
  await heddle.request('thread/loaded/list', {});
  return withoutWarning(heddle.messages.slice(start)).slice(0, -1);
}

/** The messages but for the warning that there is no provider, which follows the handshake. */
function withoutWarning(messages: readonly Message[]): Message[] {
  return messages.filter(({ method }) => method !== 'configWarning');
}

test('every text on the edges of JSON costs its line at most, alone and as a part of a request', async () => {
  const heddle = await startHeddle(place());
  const wrong: string[] = [];
  for (const { name, text, verdict } of JSON_TEXTS) {
    expect(await replies(heddle, line(text)), name).toEqual([]);
    const answered = await replies(
      heddle,
      line('{"method":"thread/loaded/list","id":"x","params":{"x":', text, '}}'),
    );
    const expected =
      verdict === 'valid' ? [{ id: 'x', result: { data: [], nextCursor: null } }] : [];
    if (JSON.stringify(answered) !== JSON.stringify(expected))
      wrong.push(`${name}: ${JSON.stringify(answered).slice(0, 200)}`);
  }
  expect(wrong).toEqual([]);
});

test('deep values where a method takes any value are kept or refused, and the server lives', async () => {
  const heddle = await startHeddle(place(), { errorsLogged: true });
  const { thread } = await heddle.request('thread/start', {});
  for (const depth of [100, 100_000]) {
    for (const deep of [
      '['.repeat(depth) + ']'.repeat(depth),
      `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`,
    ]) {
      const requests = [
        `"method":"thread/start","params":{"config":{"x":${deep}}}`,
        `"method":"thread/start","params":{"config":${deep}}`,
        `"method":"thread/start","params":{"model":${deep}}`,
        `"method":"thread/start","params":${deep}`,
        `"method":"thread/resume","params":{"threadId":"${THREAD_ID}","history":[${deep}]}`,
        `"method":"thread/resume","params":{"threadId":"${THREAD_ID}","history":[{"type":"other","x":${deep}}]}`,
        `"method":"turn/start","params":{"threadId":"${thread.id}","input":[${deep}]}`,
        `"method":"turn/start","params":{"threadId":"${thread.id}","input":[{"type":"text","text":"a"}],"outputSchema":${deep}}`,
        `"method":${deep}`,
        `"method":"thread/read","params":{"threadId":${deep}}`,
      ];
      for (const [index, request] of requests.entries()) {
        const id = `${depth} ${deep[0]} ${index}`;
        const answers = await replies(heddle, line(`{"id":"${id}",${request}}`));
        // A request that reads files may be answered after a later one.
        if (index === 8) expect(answers.filter((sent) => sent.id === id)).toEqual([]);
        else
          await vi.waitUntil(() => heddle.messages.some((sent) => sent.id === id), {
            timeout: 10_000,
            interval: 5,
          });
      }
    }
  }
  expect(await heddle.turn(thread.id, 'hello')).toMatchObject({ status: 'completed' });
});

describe('lines that are no message cost nothing but themselves', () => {
  test.each([
    ['blank lines', '\n\n \n\t\n\r\n'],
    ['scalars', '1\n"text"\ntrue\nnull\n'],
    ['a batch', `[{"id":"x","method":"thread/loaded/list","params":{}}]\n[]\n[1]\n`],
    ['an id that is null', '{"id":null,"method":"thread/loaded/list","params":{}}\n'],
    ['an id that is a fraction', '{"id":1.5,"method":"thread/loaded/list","params":{}}\n'],
    [
      'an id beyond 64 bits',
      '{"id":9223372036854775808,"method":"thread/loaded/list","params":{}}\n',
    ],
    [
      'an id beyond all numbers',
      `{"id":${'9'.repeat(400)},"method":"thread/loaded/list","params":{}}\n`,
    ],
    [
      'an id that is no id',
      ['{}', '[]', 'true']
        .map((id) => `{"id":${id},"method":"thread/loaded/list","params":{}}\n`)
        .join(''),
    ],
    ['no method', '{"params":{}}\n{}\n'],
    [
      'a method that is no text',
      ['1', 'null', '[]', '{}'].map((method) => `{"id":"x","method":${method}}\n`).join(''),
    ],
    [
      'an answer to nothing',
      '{"id":0,"result":{}}\n{"id":"x","error":{"code":1,"message":"no"}}\n{"id":{},"result":null}\n',
    ],
    ['an unknown notification', '{"method":"no/such","params":[1]}\n{"method":""}\n'],
    [
      "vscode-jsonrpc's own notifications",
      '{"method":"$/cancelRequest"}\n{"method":"$/cancelRequest","params":{"id":null}}\n{"method":"$/progress"}\n',
    ],
    ['a notification of a request', '{"method":"thread/start","params":{}}\n'],
  ])('%s', async (_name, lines) => {
    const heddle = await startHeddle(place());
    expect(await replies(heddle, lines)).toEqual([]);
    expect((await heddle.request('thread/loaded/list', {})).data).toEqual([]);
  });
});

describe('a request is understood', () => {
  const answer = (id: unknown) => [{ id, result: { data: [], nextCursor: null } }];
  test.each([
    ['with CR LF', '{"id":"x","method":"thread/loaded/list","params":{}}\r\n', answer('x')],
    [
      'with a jsonrpc member and others',
      '{"jsonrpc":"2.0","id":"x","method":"thread/loaded/list","params":{},"trace":{"a":1}}\n',
      answer('x'),
    ],
    [
      'with the last of keys that stand twice',
      '{"id":1,"method":"none","method":"thread/loaded/list","params":{"limit":"a"},"params":{},"id":"x"}\n',
      answer('x'),
    ],
    [
      'with escapes in its keys',
      '{"\\u0069d":"x","meth\\u006fd":"thread\\/loaded/list","params":{}}\n',
      answer('x'),
    ],
    [
      'with an id of a lone surrogate',
      '{"id":"\\ud800","method":"thread/loaded/list","params":{}}\n',
      answer('\ud800'),
    ],
    ['with an empty id', '{"id":"","method":"thread/loaded/list","params":{}}\n', answer('')],
    ['with an id below zero', '{"id":-1,"method":"thread/loaded/list","params":{}}\n', answer(-1)],
    [
      'with __proto__ in its params',
      '{"id":"x","method":"thread/loaded/list","params":{"__proto__":{"limit":0}}}\n',
      answer('x'),
    ],
  ])('%s', async (_name, bytes, expected) => {
    const heddle = await startHeddle(place());
    expect(await replies(heddle, bytes)).toEqual(expected);
  });

  test('with ids above 2^53, which come back exactly, also out of a line of 30 MB', async () => {
    const heddle = await startHeddle(place());
    const ids = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];
    const long = {
      id: 0,
      method: 'thread/loaded/list',
      params: { a: 'x'.repeat(15_000_000), b: '\\"'.repeat(3_750_000), id: 1 },
    };
    const requests = [
      ...ids.map((id) => `{"id":${id},"method":"thread/loaded/list","params":{}}`),
      JSON.stringify(long).replace('"id":0', `"id":${ids[0]}`),
    ];
    await replies(heddle, line(requests.join('\n')));
    expect(
      heddle.lines.slice(-5, -1).map((sent) => /^\{"id":(-?\d+),"result"/.exec(sent)?.[1]),
    ).toEqual([...ids, ids[0]]);
  });

  test('cut into pieces anywhere', async () => {
    const heddle = await startHeddle(place());
    const request = line(
      '{"id":"a\u00e9\u20ac\u{1F600}","method":"thread/loaded/list","params":{}}',
    );
    const start = heddle.messages.length;
    for (const byte of request)
      await new Promise((resolve) => heddle.stdin.write(Buffer.from([byte]), resolve));
    await heddle.request('thread/loaded/list', {});
    expect(withoutWarning(heddle.messages.slice(start)).slice(0, -1)).toEqual(
      answer('a\u00e9\u20ac\u{1F600}'),
    );
  });
});

describe('what is wrong is refused by its id', () => {
  test.each([
    ['params that are a list', '"method":"thread/loaded/list","params":[{}]', 'invalid_params'],
    ['params that are a text', '"method":"thread/loaded/list","params":"a"', 'invalid_params'],
    ['params that are null', '"method":"thread/loaded/list","params":null', 'invalid_params'],
    ['no params', '"method":"thread/loaded/list"', 'invalid_params'],
    ['an empty method', '"method":""', 'unknown_method'],
    ['a method that every object has', '"method":"constructor","params":{}', 'unknown_method'],
    ['a method of objects', '"method":"__proto__","params":{}', 'unknown_method'],
    ['a method of 1 MB', `"method":"${'m'.repeat(1_000_000)}"`, 'unknown_method'],
    [
      'a method that vscode-jsonrpc takes for its own',
      '"method":"$/cancelRequest","params":{"id":1}',
      'unknown_method',
    ],
    ['a number out of range', '"method":"thread/list","params":{"limit":1e400}', 'invalid_params'],
    [
      'a number that is no integer',
      '"method":"thread/list","params":{"limit":1.5}',
      'invalid_params',
    ],
  ])('%s', async (_name, request, code) => {
    const heddle = await startHeddle(place());
    const [answer, ...others] = await replies(heddle, line(`{"id":"x",${request}}`));
    expect(others).toEqual([]);
    expect(answer).toMatchObject({ id: 'x', error: { code: INVALID_REQUEST, data: { code } } });
    expect(answer?.error?.message.length).toBeLessThan(500);
  });

  test('two requests of one id are both answered', async () => {
    const heddle = await startHeddle(place());
    const twice =
      '{"id":7,"method":"thread/loaded/list"}\n{"id":"7","method":"thread/loaded/list"}\n{"id":7,"method":"none"}\n';
    expect((await replies(heddle, twice)).map(({ id }) => id)).toEqual([7, '7', 7]);
  });
});
