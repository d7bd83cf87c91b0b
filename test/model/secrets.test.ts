import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../src/config/providers/provider-config.ts';
import {
  collect,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  request,
  streaming,
} from './provider-server.ts';

type Changes = (port: number) => Partial<ProviderConfig>;

/** The text of the error, when the provider answers 401 and says this. */
async function refusal(
  says: (req: IncomingMessage) => string,
  changes: Changes = () => ({}),
  env: Record<string, string> = {},
) {
  const reply: Reply = (res, req) =>
    res.writeHead(401).end(JSON.stringify({ error: { message: says(req) } }));
  return errorText(reply, changes, env);
}

async function errorText(
  reply: Reply,
  changes: Changes,
  env: Record<string, string> = {},
): Promise<string> {
  await using server = await ProviderServer.start(reply);
  const last = (
    await collect(modelAt(server.port, changes(server.port), { env }).model.stream(request, never))
  ).at(-1);
  const text = last?.type === 'failed' ? last.error.message : '';
  return text.replace(`P (http://127.0.0.1:${server.port}/v1/responses) `, '');
}

const IN_HEADER = 'Check the key in http_headers or env_http_headers of the provider.';
const IN_QUERY = 'Check the key in query_params of the provider.';
const NO_KEY =
  'No key was sent. If the provider needs one, set env_key of the provider to the name of its environment variable.';

test.each<[string, string, Partial<ProviderConfig>, string]>([
  [
    'a word of a header',
    'Bad token sk-secretvalue123',
    { httpHeaders: { 'X-Token': 'Bearer sk-secretvalue123' } },
    IN_HEADER,
  ],
  [
    'a whole header of short words',
    'Bad token one two three',
    { httpHeaders: { 'x-token': 'one two three' } },
    IN_HEADER,
  ],
  [
    'a query value',
    'Bad token queryvalue456',
    { queryParams: { 'api-key': 'queryvalue456' } },
    IN_QUERY,
  ],
  [
    'a query value, decoded',
    'Bad token query value/456',
    { queryParams: { 'api-key': 'query value/456' } },
    IN_QUERY,
  ],
  [
    'a query value, as it was sent',
    'Bad token query+value%2F456',
    { queryParams: { 'api-key': 'query value/456' } },
    IN_QUERY,
  ],
  [
    'one that begins like another',
    'Bad token secret-value',
    { httpHeaders: { 'x-a': 'secret-v', 'x-b': 'secret-value' } },
    NO_KEY,
  ],
  [
    'one longer than what is shown',
    `Bad token ${'queryvalue456'.repeat(400)}`,
    { queryParams: { key: 'queryvalue456'.repeat(400) } },
    IN_QUERY,
  ],
])('%s is not shown', async (_, says, changes, advice) => {
  expect(
    await refusal(
      () => says,
      () => changes,
    ),
  ).toBe(`answered HTTP 401. Bad token … ${advice}`);
});

test('of a secret that stands where the text is cut, no part is shown', async () => {
  const text = await refusal(
    () => `${'x '.repeat(995)}queryvalue456 tail`,
    () => ({ queryParams: { key: 'queryvalue456' } }),
  );
  expect(text).toBe(`answered HTTP 401. ${'x '.repeat(995)}… tail. ${IN_QUERY}`);
});

test('of a secret that an invalid item repeats where it is cut, no part is shown', async () => {
  const item = { type: 'message', role: 'assistant', content: `${'x'.repeat(55)}queryvalue456` };
  const reply = streaming({ type: 'response.output_item.done', item });
  const text = await errorText(reply, () => ({ queryParams: { key: 'queryvalue456' } }));
  expect(text.replace(/^P \(.*?\) /, '')).toBe(
    `sent an invalid "message" item: content: "${'x'.repeat(55)}…" is not an array.`,
  );
});

test.each<[string, (key: string) => string]>([
  ['as JSON writes it', (key) => JSON.stringify(key).slice(1, -1)],
  [
    'as JSON writes it, slashes too',
    (key) => JSON.stringify(key).slice(1, -1).replaceAll('/', '\\/'),
  ],
  ['percent-encoded', encodeURIComponent],
  [
    'percent-encoded in lower case',
    (key) => encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
  ],
  ['as forms encode it', (key) => new URLSearchParams([['', key]]).toString().slice(1)],
])('a key that is repeated %s is not shown', async (_, written) => {
  const key = 'tok"en\\val/ue+1~(23)=';
  const text = await refusal(
    () => `Bad token ${written(key)}`,
    () => ({ envKey: 'K' }),
    { K: key },
  );
  expect(text).toBe('answered HTTP 401. Bad token … Check the key in the environment variable K.');
});

test('query values of base_url are not shown, as they are written and decoded', async () => {
  const changes: Changes = (port) => ({
    baseUrl: `http://127.0.0.1:${port}/v1?key=plain%21value&justtoken`,
  });
  expect(await refusal(({ url }) => `${url} plain!value`, changes)).toBe(
    `answered HTTP 401. /v1/responses?key=…&… … ${NO_KEY}`,
  );
});

test('user and password of base_url are not shown, as they are written, decoded and sent', async () => {
  const changes: Changes = (port) => ({
    baseUrl: `http://some%20user:pass%2Fword@127.0.0.1:${port}/v1`,
  });
  const says = ({ headers }: IncomingMessage) =>
    `${headers.authorization} some%20user some user pass%2Fword pass/word`;
  expect(await refusal(says, changes)).toBe(
    'answered HTTP 401. Basic … … … … … Check the key in base_url of the provider.',
  );
});

test('short values stay: they are found in plain words', async () => {
  expect(
    await refusal(
      () => 'kind 1 or v2',
      () => ({ httpHeaders: { 'x-kind': 'kind 1' }, queryParams: { api: 'v2' } }),
    ),
  ).toBe(`answered HTTP 401. kind 1 or v2. ${NO_KEY}`);
});

test('a refused authorization header is advised about, also where there is a key: the header is what was sent', async () => {
  const says = ({ headers }: IncomingMessage) => `Bad ${headers.authorization}`;
  const httpHeaders = { Authorization: 'Bearer sk-secretvalue123' };
  const text =
    'answered HTTP 401. Bad … Check the key in http_headers or experimental_bearer_token of the provider.';
  expect(await refusal(says, () => ({ httpHeaders }))).toBe(text);
  expect(await refusal(says, () => ({ httpHeaders, envKey: 'K' }), { K: 'not-sent-at-all' })).toBe(
    text,
  );
});

test.each<[string, Reply]>([
  [
    'an error in the stream',
    streaming('data: {"error":{"message":"key sk-secretvalue123","code":"sk-secretvalue123"}}\n\n'),
  ],
  [
    'an error in place of a stream',
    (res) => res.writeHead(200).end('{"error":"key sk-secretvalue123"}'),
  ],
])('of a chat API, %s does not show a secret', async (_, reply) => {
  const changes: Changes = () => ({
    wireApi: 'chat',
    httpHeaders: { 'x-token': 'Bearer sk-secretvalue123' },
  });
  const text = await errorText(reply, changes);
  expect(text).toContain('key …');
  expect(text).not.toContain('secretvalue');
});

test('a stream that repeats a secret as the reason of its end does not show it', async () => {
  const response = { incomplete_details: { reason: `key ${'x'.repeat(90)} sk-secretvalue123` } };
  const changes: Changes = () => ({ httpHeaders: { 'x-token': 'Bearer sk-secretvalue123' } });
  expect(await errorText(streaming({ type: 'response.incomplete', response }), changes)).toBe(
    `left its response incomplete: key ${'x'.repeat(90)} ….`,
  );
});
