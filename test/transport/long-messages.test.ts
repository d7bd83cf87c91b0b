import { expect, test } from 'vitest';
import { JsonWriter } from '../../src/transport/json-writer.ts';
import { LongMessage } from '../../src/transport/outgoing-message.ts';
import { RequestIds } from '../../src/transport/request-ids.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { nextRound } from '../support/settled.ts';
import { text } from '../support/test-client.ts';
import { startServer } from '../support/test-server.ts';

const MB = 1e6;

test('a long request takes effect before the shorter ones behind it', async () => {
  const { client } = await startServer();
  const { thread } = await client.request('thread/start', {});
  const items = [
    {
      type: 'message' as const,
      role: 'user',
      content: [{ type: 'input_text' as const, text: 'é"\n'.repeat(MB) }],
    },
  ];
  const lines = [
    { id: 1001, method: 'thread/inject_items', params: { threadId: thread.id, items } },
    { id: 1002, method: 'thread/name/set', params: { threadId: thread.id, name: 'x' } },
    { id: 1003, method: 'no/such/method', params: {} },
  ];
  const sent = client.messages.length;
  client.input.write(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  await client.first('the last answer', ({ id }) => id === 1002);
  const ids = client.messages.slice(sent).flatMap(({ id }) => id ?? []);
  expect(ids).toHaveLength(3);
  expect(ids.indexOf(1001)).toBeLessThan(ids.indexOf(1002));
});

test('what follows a long message comes after it, whole', async () => {
  const { client } = await startServer();
  const { thread } = await client.request('thread/start', {});
  const input = 'é"\n\u{1f600}'.repeat(200_000);
  await client.turn(thread.id, text(input));
  const { item } = await client.waitFor(
    'item/completed',
    (sent) => sent.item.type === 'userMessage',
  );
  expect(item).toMatchObject({ content: [{ text: input }] });
  const methods = client.messages
    .flatMap(({ method }) => method ?? [])
    .filter((method) => method.startsWith('turn/') || method.startsWith('item/'));
  expect(methods.slice(0, 3)).toEqual(['turn/started', 'item/started', 'item/completed']);
  expect(methods.at(-1)).toBe('turn/completed');
  expect(client.problems).toEqual([]);
});

test('a long message that is not JSON is skipped, and the client is still served', async () => {
  const { client } = await startServer();
  client.input.write(
    `{"id":1,"method":"thread/list","params":{"searchTerm":"${'x'.repeat(2 * MB)}"\n`,
  );
  expect(await client.request('thread/list', {})).toMatchObject({ data: [] });
});

/** A transport that takes what is written to it when `take` is called, or fails with `fail`. */
function slowTransport() {
  const written: string[] = [];
  const taken: (() => void)[] = [];
  let fail = (_: Error) => {};
  const write = (text: string, onTaken: () => void) => {
    written.push(text);
    taken.push(onTaken);
  };
  const transport: Transport = {
    listen: () => () => {},
    pause: () => {},
    resume: () => {},
    write: (texts, onTaken) => write(texts.join(' '), onTaken),
    writeLong: (parts, onTaken) => write(Buffer.concat(parts).toString(), onTaken),
    backlog: 0,
    onWriteError: (callback) => {
      fail = callback;
    },
    end: () => {},
  };
  const take = () => {
    for (const onTaken of taken.splice(0)) onTaken();
  };
  return { transport, written, take, fail: (error: Error) => fail(error) };
}

/** Long messages with these texts, and the texts that have been made. */
function longMessages(...texts: string[]) {
  const made: string[] = [];
  const messages = texts.map((text) => {
    const make = async () => {
      made.push(text);
      return [Buffer.from(text)];
    };
    return new LongMessage(make, text.length);
  });
  return { messages, made };
}

test('the text of a long message is made when everything before it has been taken', async () => {
  const { transport, written, take } = slowTransport();
  const { messages, made } = longMessages('first', 'second');
  const writer = new JsonWriter(transport, { ids: new RequestIds(), tap: null });
  for (const message of ['a', ...messages, 'b', 'c']) writer.send(message);
  for (const expected of [['a', 'first'], ['second'], ['b c']]) {
    await nextRound();
    await nextRound();
    expect([written.splice(0), made.splice(0)]).toEqual([
      expected,
      expected.filter((text) => text.length > 3),
    ]);
    take();
  }
});

test('a client that goes while a long message is written leaves nothing to wait for', async () => {
  const { transport, written, fail } = slowTransport();
  const { messages, made } = longMessages('first', 'second');
  const writer = new JsonWriter(transport, { ids: new RequestIds(), tap: null });
  for (const message of messages) writer.send(message);
  await nextRound();
  const flushed = writer.flushed();
  fail(new Error('broken pipe'));
  await flushed;
  expect([written, made]).toEqual([['first'], ['first']]);
});

test('connections that write a long message at the same time share its text, and a later one makes it again', async () => {
  const { messages, made } = longMessages('text');
  const [one, other] = [slowTransport(), slowTransport()];
  const writers = [one, other].map(
    ({ transport }) => new JsonWriter(transport, { ids: new RequestIds(), tap: null }),
  );
  const send = async () => {
    for (const writer of writers) writer.send(messages[0] ?? '');
    await nextRound();
    for (const { take } of [one, other]) take();
    await nextRound();
  };
  await send();
  expect(made).toEqual(['text']);
  await send();
  expect(made).toEqual(['text', 'text']);
  expect([one.written, other.written]).toEqual([
    ['text', 'text'],
    ['text', 'text'],
  ]);
});
