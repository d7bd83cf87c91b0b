import { createServer as createTcpServer } from 'node:net';
import { expect, test } from 'vitest';
import { NO_LOGIN, type StoredLogin } from '../../src/config/login/stored-login.ts';
import type { ProviderConfig } from '../../src/config/providers/provider-config.ts';
import type { ProviderModelDeps } from '../../src/model/http/create-provider-model.ts';
import type { CodexErrorInfo } from '../../src/protocol/generated/types.ts';
import { failed, httpFailed } from '../support/test-model.ts';
import {
  collect,
  created,
  message,
  modelAt,
  never,
  ProviderServer,
  type Reply,
  refusing,
  request,
  sse,
  streaming,
} from './provider-server.ts';

const error = (code: string, text = 'why') => ({ error: { code, message: text } });

/** The last event; the provider must have been asked once. */
async function lastEvent(
  reply: Reply,
  changes: Partial<ProviderConfig> = {},
  deps: Partial<ProviderModelDeps> = {},
) {
  await using server = await ProviderServer.start(reply);
  const events = await collect(modelAt(server.port, changes, deps).model.stream(request, never));
  expect(server.requests).toHaveLength(1);
  const url = /http:\/\/127\.0\.0\.1:\d+\/v1\/(?:responses|chat\/completions)/g;
  return JSON.parse(JSON.stringify(events.at(-1)).replace(url, 'URL'));
}

const NO_KEY =
  ' No key was sent. If the provider needs one, set env_key of the provider to the name of its environment variable.';
const USED_UP = ' The quota of this key is used up. Check your plan and billing with the provider.';
/** Advice that only requests of the Responses API get. */
const ONLY_CHAT = ' If it has only the Chat Completions API, set wire_api = "chat" for it.';
const NOT_HERE = ' Check base_url of the provider, and that the provider has this model.';

const refusals: [string, Reply, string, CodexErrorInfo][] = [
  [
    '400',
    refusing(400, { error: { message: 'bad field' } }),
    'P (URL) answered HTTP 400. bad field.',
    'other',
  ],
  [
    '400 context_length_exceeded',
    refusing(400, error('context_length_exceeded')),
    'P (URL) answered HTTP 400. why.',
    'contextWindowExceeded',
  ],
  [
    '400 invalid_prompt',
    refusing(400, error('invalid_prompt')),
    'P (URL) answered HTTP 400. why.',
    'other',
  ],
  [
    '401',
    refusing(401, { error: 'no entry!' }),
    `P (URL) answered HTTP 401. no entry!${NO_KEY}`,
    httpFailed(401),
  ],
  [
    '403',
    refusing(403, { message: 'not yours' }),
    `P (URL) answered HTTP 403. not yours.${NO_KEY}`,
    httpFailed(403),
  ],
  [
    '404',
    refusing(404, { detail: 'Not Found' }),
    `P (URL) answered HTTP 404. Not Found.${NOT_HERE}`,
    httpFailed(404),
  ],
  [
    '404 model_not_found',
    refusing(404, error('model_not_found')),
    'P (URL) answered HTTP 404. why. The provider has no model "m" for this key. Check the name.',
    httpFailed(404),
  ],
  [
    '404, a model that is not there in words alone',
    refusing(404, { error: 'The model `m` does not exist or you do not have access to it' }),
    'P (URL) answered HTTP 404. The model `m` does not exist or you do not have access to it. The provider has no model "m" for this key. Check the name.',
    httpFailed(404),
  ],
  [
    '404, a whole page',
    refusing(
      404,
      '<!DOCTYPE html>\n<html><head><title> Not here </title></head><body>much</body></html>',
    ),
    `P (URL) answered HTTP 404. It is a web page: Not here.${NOT_HERE}`,
    httpFailed(404),
  ],
  [
    '400 from a port for https',
    refusing(
      400,
      '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>',
    ),
    'P (URL) answered HTTP 400. It is a web page: 400 The plain HTTP request was sent to HTTPS port. Use https in base_url of the provider.',
    'other',
  ],
  [
    '407',
    refusing(407),
    'P (URL) answered HTTP 407. A proxy on the way requires its own credentials.',
    httpFailed(407),
  ],
  [
    '402 insufficient_quota',
    refusing(402, error('insufficient_quota')),
    `P (URL) answered HTTP 402. why.${USED_UP}`,
    'usageLimitExceeded',
  ],
  ['409', refusing(409), 'P (URL) answered HTTP 409.', httpFailed(409)],
  [
    '413, a page',
    refusing(413, '<h1>\n Too  large</h1>'),
    'P (URL) answered HTTP 413. <h1> Too large</h1>.',
    'contextWindowExceeded',
  ],
  [
    '429',
    refusing(429, { error: { message: 'slow' } }),
    'P (URL) answered HTTP 429. slow.',
    { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
  ],
  [
    '429 rate_limit_exceeded',
    refusing(429, error('rate_limit_exceeded')),
    'P (URL) answered HTTP 429. why.',
    { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
  ],
  [
    '429 usage_limit_reached',
    refusing(429, { error: { type: 'usage_limit_reached', message: 'limit' } }),
    `P (URL) answered HTTP 429. limit.${USED_UP}`,
    'usageLimitExceeded',
  ],
  ['500', refusing(500, '{}'), 'P (URL) answered HTTP 500.', 'internalServerError'],
  ['502', refusing(502, 'Bad Gateway'), 'P (URL) answered HTTP 502. Bad Gateway.', httpFailed(502)],
  [
    '503 server_is_overloaded',
    refusing(503, error('server_is_overloaded')),
    'P (URL) answered HTTP 503. why.',
    'serverOverloaded',
  ],
  [
    '503 slow_down',
    refusing(503, error('slow_down')),
    'P (URL) answered HTTP 503. why.',
    'rateLimitExceeded',
  ],
  [
    'a code that is a name of Object',
    refusing(400, error('constructor')),
    'P (URL) answered HTTP 400. why.',
    'other',
  ],
  ['a body that is a JSON list', refusing(400, '[1]'), 'P (URL) answered HTTP 400. [1].', 'other'],
  ['204', refusing(204), 'P (URL) answered HTTP 204.', httpFailed(204)],
  [
    'a redirect',
    refusing(307, '', { location: 'https://user:pw@elsewhere.invalid/v2?key=secret' }),
    'P (URL) answered HTTP 307. It redirects to https://elsewhere.invalid/v2, which heddle does not follow. Change base_url.',
    httpFailed(307),
  ],
];

test.each(refusals)('HTTP %s, whichever API is asked', async (_, reply, text, info) => {
  const ofResponses = text.endsWith(NOT_HERE) ? text + ONLY_CHAT : text;
  expect(await lastEvent(reply)).toEqual(failed(ofResponses, info));
  expect(await lastEvent(reply, { wireApi: 'chat' })).toEqual(failed(text, info));
});

test.each<[string, object, string, CodexErrorInfo]>([
  [
    'a model that is not there',
    { error: 'model "m" not found' },
    'model "m" not found. The provider has no model "m" for this key. Check the name.',
    'other',
  ],
  ['a wrong key', error('invalid_api_key'), `why.${NO_KEY}`, 'other'],
  [
    'a wrong key, told by a status',
    { error: { code: 401, message: 'why' } },
    `why.${NO_KEY}`,
    'other',
  ],
  ['quota that is used up', error('insufficient_quota'), `why.${USED_UP}`, 'usageLimitExceeded'],
  [
    'a wrong path',
    { error: 'Unknown path /x' },
    'Unknown path /x. Check base_url of the provider.',
    'other',
  ],
  ['something else', { error: 'out of memory' }, 'out of memory.', 'other'],
  ['no reason', { error: {} }, 'no reason given. Check base_url of the provider.', 'other'],
])(
  'an error in an answer with status 200 is advised about as any other: %s',
  async (_, body, said, info) => {
    const text = `P (URL) answered with an error: ${said}`;
    expect(await lastEvent(refusing(200, body))).toEqual(
      failed(said.includes('path') ? text + ONLY_CHAT : text, info),
    );
    expect(await lastEvent(refusing(200, body), { wireApi: 'chat' })).toEqual(failed(text, info));
  },
);

test('429 with a wait that is too long is told with the wait, and not waited for', async () => {
  const text =
    'P (URL) answered HTTP 429. slow. It asks to wait 3600 s, which is longer than heddle waits.';
  const info = { responseTooManyFailedAttempts: { httpStatusCode: 429 } };
  expect(
    await lastEvent(refusing(429, { error: 'slow' }, { 'retry-after': '3600' }), {
      requestMaxRetries: 3,
    }),
  ).toEqual(failed(text, info));
});

const streamed: [string, Reply, string, CodexErrorInfo][] = [
  [
    'rate_limit_exceeded',
    streaming(created, failedResponse('rate_limit_exceeded')),
    'P (URL) could not answer: why.',
    'rateLimitExceeded',
  ],
  [
    'context_length_exceeded',
    streaming(failedResponse('context_length_exceeded')),
    'P (URL) could not answer: why.',
    'contextWindowExceeded',
  ],
  [
    'insufficient_quota',
    streaming(failedResponse('insufficient_quota')),
    'P (URL) could not answer: why.',
    'usageLimitExceeded',
  ],
  [
    'server_is_overloaded',
    streaming(failedResponse('server_is_overloaded')),
    'P (URL) could not answer: why.',
    'serverOverloaded',
  ],
  [
    'cyber_policy',
    streaming(failedResponse('cyber_policy')),
    'P (URL) could not answer: why.',
    'cyberPolicy',
  ],
  [
    'invalid_prompt',
    streaming(failedResponse('invalid_prompt')),
    'P (URL) could not answer: why.',
    'other',
  ],
  [
    'an unknown code',
    streaming(failedResponse('server_error')),
    'P (URL) could not answer: why.',
    'other',
  ],
  ['no error at all', streaming({ type: 'response.failed' }), 'P (URL) could not answer.', 'other'],
  [
    'an error event',
    streaming({ type: 'error', code: 'slow_down', message: 'why' }),
    'P (URL) could not answer: why.',
    'rateLimitExceeded',
  ],
  [
    'an error without a type',
    streaming(error('usage_limit_reached')),
    'P (URL) could not answer: why.',
    'usageLimitExceeded',
  ],
  [
    'an incomplete response',
    streaming(...message('par'), {
      type: 'response.incomplete',
      response: { incomplete_details: { reason: 'max_output_tokens' } },
    }),
    'P (URL) left its response incomplete: max_output_tokens.',
    'other',
  ],
  [
    'an end before the end',
    streaming(...message('par')),
    'P (URL) ended its stream before the response was complete. Only a part of the answer came.',
    'other',
  ],
  [
    'only [DONE]',
    streaming('data: [DONE]\n\n'),
    'P (URL) ended its stream before the response was complete.',
    'other',
  ],
  [
    'nothing but an event that is not JSON',
    streaming('data: {"type":\n\n'),
    'P (URL) ended its stream before the response was complete.',
    'other',
  ],
  [
    'nothing but an event that is a JSON list',
    streaming('data: []\n\n'),
    'P (URL) ended its stream before the response was complete.',
    'other',
  ],
  [
    'a delta that is a number',
    streaming({ type: 'response.output_text.delta', delta: 7 }),
    'P (URL) sent a "response.output_text.delta" without a string in "delta".',
    'other',
  ],
  [
    'an item_id that is a number',
    streaming({ type: 'response.output_text.delta', item_id: 7, delta: 'x' }),
    'P (URL) sent a "response.output_text.delta" whose "item_id" is not a string.',
    'other',
  ],
  [
    'a message whose content is a text',
    streaming(done({ type: 'message', role: 'assistant', content: 'x' })),
    'P (URL) sent an invalid "message" item: content: "x" is not an array.',
    'other',
  ],
  [
    'a call without a name',
    streaming(done({ type: 'function_call', call_id: 'c', arguments: '{}' })),
    'P (URL) sent an invalid "function_call" item: name is missing: a string is expected.',
    'other',
  ],
  [
    'a call whose arguments are an object',
    streaming(done({ type: 'function_call', call_id: 'c', name: 'n', arguments: {} })),
    'P (URL) sent an invalid "function_call" item: arguments: an object is not a string.',
    'other',
  ],
  [
    'an error with success instead of a stream',
    refusing(200, { error: { message: 'Unexpected endpoint' } }),
    `P (URL) answered with an error: Unexpected endpoint. Check base_url of the provider.${ONLY_CHAT}`,
    'other',
  ],
  [
    'JSON instead of a stream',
    refusing(200, '{}'),
    'P (URL) answered with application/json, not with an event stream. Check base_url of the provider.',
    'other',
  ],
  [
    'a page instead of a stream',
    (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    'P (URL) answered with text/html, not with an event stream. Check base_url of the provider.',
    'other',
  ],
  [
    'a compressed stream',
    (res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
    'P (URL) answered with gzip encoding, not with an event stream. Check base_url of the provider.',
    'other',
  ],
];

test.each(streamed)('a stream with %s', async (_, reply, text, info) => {
  expect(await lastEvent(reply)).toEqual(failed(text, info));
});

test('what came before garbage is still told', async () => {
  await using server = await ProviderServer.start(
    streaming(
      ...message('good'),
      done({ type: 'message', role: 'assistant', content: 'x' }),
      ...message('never', 'm2'),
    ),
  );
  const events = await collect(modelAt(server.port).model.stream(request, never));
  expect(events.map(({ type }) => type)).toEqual([
    'started',
    'itemStarted',
    'textDelta',
    'itemCompleted',
    'failed',
  ]);
});

test('a stream that is cut in its middle', async () => {
  const reply: Reply = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write('data: {"type":"response.created"}\n\n', () => res.destroy());
  };
  expect(await lastEvent(reply)).toEqual(
    failed('P (URL) broke off its stream before the response was complete (ECONNRESET).', 'other'),
  );
});

test('a stream that is cut in the middle of the answer says that a part came', async () => {
  const reply: Reply = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(message('half').slice(0, 2).map(sse).join(''), () => res.destroy());
  };
  const text =
    'P (URL) broke off its stream before the response was complete (ECONNRESET). Only a part of the answer came.';
  expect(await lastEvent(reply)).toEqual(failed(text, 'other'));
});

test('a connection that is closed without an answer', async () => {
  expect(await lastEvent((res) => res.destroy())).toEqual(
    failed('P (URL) closed the connection without an answer (ECONNRESET).', 'other'),
  );
});

test('a rejected key names the variable, and a key that the provider repeats is not shown', async () => {
  const reply = refusing(401, { error: { message: 'wrong key sk-12345678 for header-secret' } });
  const changes = { envKey: 'MY_KEY', httpHeaders: { 'x-more': 'header-secret' } };
  expect(await lastEvent(reply, changes, { env: { MY_KEY: 'sk-12345678' } })).toEqual(
    failed(
      'P (URL) answered HTTP 401. wrong key … for … Check the key in the environment variable MY_KEY.',
      httpFailed(401),
    ),
  );
});

test.each<[string, string, Record<string, string>]>([
  ['absent', 'MY_KEY', {}],
  ['blank', 'MY_KEY', { MY_KEY: ' \n' }],
  ['absent, with a name that every object knows,', 'constructor', {}],
])('a key that is %s is told before any request', async (_, envKey, env) => {
  await using server = await ProviderServer.start(refusing(500));
  const { model } = modelAt(server.port, { envKey }, { env });
  expect(await collect(model.stream(request, never))).toEqual([
    failed(
      `The key of model provider "P" is missing: set the environment variable ${envKey}.`,
      'unauthorized',
    ),
  ]);
  expect(server.requests).toEqual([]);
});

test.each<[string, Partial<StoredLogin>, string]>([
  ['none', {}, ''],
  [
    'of ChatGPT',
    { hasChatgptLogin: true },
    ' auth.json in the home has a ChatGPT login, which heddle does not support.',
  ],
  ['that cannot be read', { problem: 'auth.json is a folder' }, ' auth.json is a folder.'],
])('a missing key of a provider with logins names the login: %s', async (_, login, reason) => {
  await using server = await ProviderServer.start(refusing(401, {}));
  const storedLogin = () => ({ ...NO_LOGIN, ...login });
  const keyed = modelAt(server.port, { envKey: 'MY_KEY', usesLogin: true }, { storedLogin });
  expect(await collect(keyed.model.stream(request, never))).toEqual([
    failed(
      `The key of model provider "P" is missing: log in with an API key, or set the environment variable MY_KEY.${reason}`,
      'unauthorized',
    ),
  ]);
  const keyless = modelAt(server.port, { usesLogin: true }, { storedLogin });
  const told = (await collect(keyless.model.stream(request, never))).at(-1);
  const message = told?.type === 'failed' ? told.error.message : '';
  expect(message).toContain(
    `No key was sent. If the provider needs one, log in with an API key.${reason}`,
  );
});

test.each<[string, Partial<ProviderConfig>, Record<string, string>, string]>([
  [
    'no base_url',
    { baseUrl: null },
    {},
    'The base_url of model provider "p" is not an http or https URL.',
  ],
  [
    'a base_url that is no URL',
    { baseUrl: 'localhost' },
    {},
    'The base_url of model provider "p" is not an http or https URL.',
  ],
  [
    'a base_url of a file',
    { baseUrl: 'file:///etc' },
    {},
    'The base_url of model provider "p" is not an http or https URL.',
  ],
  [
    'a user that cannot be decoded',
    { baseUrl: 'http://a%zz:password@127.0.0.1/v1' },
    {},
    'The user or password in the base_url of model provider "p" is not percent-encoded.',
  ],
  [
    'an authorization header with a line break',
    { envKey: 'K', httpHeaders: { Authorization: 'a\nb' } },
    { K: 'key' },
    'The header "authorization" for model provider "P" has characters that HTTP does not allow. Correct http_headers.',
  ],
  [
    'a key with a line break',
    { envKey: 'K' },
    { K: 'a\nb' },
    'The header "authorization" for model provider "P" has characters that HTTP does not allow. Correct the environment variable K.',
  ],
  [
    'a header name with a blank',
    { httpHeaders: { 'a b': 'c' } },
    {},
    'The header "a b" for model provider "P" has characters that HTTP does not allow. Correct http_headers.',
  ],
])('%s is told', async (_, changes, env, text) => {
  const { model } = modelAt(1, changes, { env });
  expect(await collect(model.stream(request, never))).toEqual([failed(text, expect.any(String))]);
});

test('a refused connection', async () => {
  const server = await ProviderServer.start(refusing(500));
  const { port } = server;
  await server[Symbol.asyncDispose]();
  expect(await collect(modelAt(port).model.stream(request, never))).toEqual([
    { type: 'started' },
    failed(
      `P (http://127.0.0.1:${port}/v1/responses) cannot be reached: the connection was refused. Check that the server is running and that base_url is correct.`,
      httpFailed(null),
    ),
  ]);
});

test('a name that does not resolve', async () => {
  const lookup: ProviderModelDeps['lookup'] = (_name, _options, callback) =>
    callback(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), '');
  const { model } = modelAt(
    0,
    { baseUrl: 'http://user:password@nonexistent.invalid/v1?key=secret' },
    { lookup },
  );
  expect(await collect(model.stream(request, never))).toEqual([
    { type: 'started' },
    failed(
      'P (http://nonexistent.invalid/v1/responses) cannot be reached: the host name nonexistent.invalid cannot be resolved. Check base_url, and that this machine is online.',
      httpFailed(null),
    ),
  ]);
});

test('a proxy that does not answer, and one that cannot be used', async () => {
  const texts = [];
  for (const env of [
    { HTTPS_PROXY: 'http://user:password@127.0.0.1:9' },
    { all_proxy: 'socks5://127.0.0.1:9' },
    { https_proxy: 'http://[' },
  ]) {
    const { model } = modelAt(
      0,
      { baseUrl: 'https://other.example/v1' },
      { env: env as Record<string, string> },
    );
    texts.push((await collect(model.stream(request, never))).at(-1));
  }
  expect(texts).toEqual([
    failed(
      'P (https://other.example/v1/responses) cannot be reached: the connection was refused. Check that the server is running and that base_url is correct. Requests go through the proxy in HTTPS_PROXY (http://127.0.0.1:9).',
      httpFailed(null),
    ),
    failed(
      'The proxy in all_proxy is a socks5 proxy. heddle uses http and https proxies only. Set NO_PROXY to connect directly.',
      'badRequest',
    ),
    failed(
      'https_proxy is not the URL of a proxy. Correct it, or set NO_PROXY to connect directly.',
      'badRequest',
    ),
  ]);
});

test('a server that speaks no HTTP, and one that speaks no TLS', async () => {
  const server = createTcpServer((socket) =>
    socket.on('error', () => {}).on('data', () => socket.end('SSH-2.0-x\r\n')),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const texts = [];
  for (const scheme of ['http', 'https']) {
    const { model } = modelAt(port, { baseUrl: `${scheme}://127.0.0.1:${port}` });
    texts.push((await collect(model.stream(request, never))).at(-1));
  }
  await new Promise((resolve) => server.close(resolve));
  expect(texts).toEqual([
    failed(
      `P (http://127.0.0.1:${port}/responses) answered with something that is not HTTP (HPE_INVALID_CONSTANT). Check base_url.`,
      httpFailed(null),
    ),
    failed(expect.stringContaining('does not speak TLS as expected'), httpFailed(null)),
  ]);
});

function failedResponse(code: string): object {
  return { type: 'response.failed', response: { error: { code, message: 'why' } } };
}

function done(item: object): object {
  return { type: 'response.output_item.done', output_index: 0, item };
}

test.each<[name: string, reply: Reply, refuses: boolean]>([
  ['400', refusing(400, error('x', 'invalid image')), true],
  [
    '404 of a gateway',
    refusing(404, error('x', 'No endpoints found that support image input')),
    true,
  ],
  ['415', refusing(415, error('x', 'unsupported media type')), true],
  ['422', refusing(422, { detail: 'the picture is broken' }), true],
  ['500 of llama.cpp', refusing(500, error('x', 'image input is not supported')), true],
  [
    '200 with an error',
    refusing(200, error('x', 'invalid image'), { 'content-type': 'application/json' }),
    true,
  ],
  [
    'response.failed',
    streaming(created, {
      type: 'response.failed',
      response: { error: { code: 'x', message: 'invalid image' } },
    }),
    true,
  ],
  ['400 without a word of pictures', refusing(400, error('x', 'bad field')), false],
  ['401', refusing(401, error('x', 'no image for you')), false],
  ['429', refusing(429, error('x', 'input-images per min')), false],
  ['503', refusing(503, error('x', 'image backend busy')), false],
  [
    'response.failed, overloaded',
    streaming(created, {
      type: 'response.failed',
      response: { error: { code: 'slow_down', message: 'image' } },
    }),
    false,
  ],
])(
  '%s: whether it refuses pictures says the text of the provider, not its name',
  async (_, reply, refuses) => {
    const event = await lastEvent(reply, {
      name: 'Imagerouter',
      requestMaxRetries: 0,
      streamMaxRetries: 0,
    });
    expect({ type: event.type, refuses: event.refusesPictures ?? false }).toEqual({
      type: 'failed',
      refuses,
    });
  },
);
