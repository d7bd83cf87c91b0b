import { describe, expect, test } from 'vitest';
import { chatStream, DONE, delta, finish } from '../../model/chat-stream.ts';
import { ProviderServer, type Reply, refusing } from '../../model/provider-server.ts';
import { startServer, type TestServer, type TestServerOptions } from '../../support/test-server.ts';
import { completed, THREAD } from '../../tools/command-server.ts';
import { ALLOW, GUARDED_CONFIG, reviewsCompleted } from './guardian-server.ts';

interface ChatBody {
  model: string;
  messages: {
    role: string;
    content?: unknown;
    tool_calls?: { id: string; function: { name: string } }[];
    tool_call_id?: string;
  }[];
  tools?: { function: { name: string } }[];
  response_format?: unknown;
  service_tier?: string;
}

const own = GUARDED_CONFIG.replace(
  /model = "test-model"\nmodel_provider = "test"/,
  'model_provider = "scripted"',
);
const says = (content: string) =>
  chatStream(delta({ role: 'assistant', content }), finish('stop'), DONE);
const approves = says(JSON.stringify(ALLOW));
const reads = (...calls: [name: string, args: object][]) =>
  chatStream(
    delta({
      tool_calls: calls.map(([name, args], index) => ({
        ...{ index, id: `r${index}`, type: 'function' },
        function: { name, arguments: JSON.stringify(args) },
      })),
    }),
    finish('tool_calls'),
    DONE,
  );

/** The embedded model works; a model behind Chat Completions guards. */
async function guardedByChat(
  replies: Reply[],
  { more = '', ...options }: TestServerOptions & { more?: string } = {},
) {
  const provider = await ProviderServer.start(...replies);
  const config = `${own}service_tier = "flex"
[model_providers.guard]
base_url = "http://127.0.0.1:${provider.port}/v1"
wire_api = "chat"
request_max_retries = 0
[auto_review]
model_provider = "guard"
model = "guard-1"
${more}`;
  const server = await startServer({ model: null, config, ...options });
  await server.client.request('thread/start', {});
  const bodies = () => provider.requests.map(({ body }) => body as ChatBody);
  return { server, provider, bodies, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
}

const touches = (server: TestServer) =>
  server.client.turn(THREAD, 'call exec_command {"cmd":"sh run.sh","login":false}');

test('a model behind Chat Completions reads a file and then approves', async () => {
  await using guard = await guardedByChat([reads(['read_file', { path: 'run.sh' }]), approves], {
    files: { 'work/run.sh': 'touch a\n' },
  });
  await touches(guard.server);
  const [first, second] = guard.bodies();
  expect(first).toMatchObject({
    model: 'guard-1',
    tools: [{ function: { name: 'read_file' } }, { function: { name: 'exec_command' } }],
  });
  expect(first?.messages[0]?.content).toContain('safety reviewer');
  expect(first?.messages.at(-1)?.content).toContain('sh run.sh');
  expect(second?.messages.slice(-2)).toMatchObject([
    { role: 'assistant', tool_calls: [{ id: 'r0', function: { name: 'read_file' } }] },
    { role: 'tool', tool_call_id: 'r0', content: expect.stringContaining('touch a') },
  ]);
  expect(guard.bodies().map(({ service_tier }) => service_tier)).toEqual([undefined, undefined]);
  expect(reviewsCompleted(guard.server)).toMatchObject([
    { review: { status: 'approved', riskLevel: 'low' } },
  ]);
  expect(completed(guard.server)).toMatchObject([{ status: 'completed', exitCode: 0 }]);
});

test('every call is answered: a tool that there is not, and more files than are read at once', async () => {
  const calls = Array.from({ length: 9 }, (): [string, object] => [
    'read_file',
    { path: 'run.sh' },
  ]);
  await using guard = await guardedByChat(
    [reads(['web_search', { query: 'ls' }]), reads(...calls), approves],
    {
      files: { 'work/run.sh': 'touch a\n' },
    },
  );
  await touches(guard.server);
  const outputs =
    guard
      .bodies()
      .at(-1)
      ?.messages.filter(({ role }) => role === 'tool') ?? [];
  expect(outputs).toHaveLength(10);
  expect(outputs[0]?.content).toBe(
    'There is no tool web_search. There is only read_file and exec_command.',
  );
  expect(outputs.slice(1, 9).every(({ content }) => String(content).includes('touch a'))).toBe(
    true,
  );
  expect(outputs[9]?.content).toContain('at most 8 files');
});

describe('a server that refuses', () => {
  const both: Reply = (res, req, body) => {
    const { tools, response_format } = body as ChatBody;
    const isRefused = tools !== undefined && response_format !== undefined;
    const refusal = refusing(400, {
      error: {
        message: 'json mode cannot be combined with tool calling',
        type: 'invalid_request_error',
      },
    });
    return (isRefused ? refusal : approves)(res, req, body);
  };
  const schema: Reply = (res, req, body) => {
    const isRefused = (body as ChatBody).response_format !== undefined;
    const refusal = refusing(400, {
      error: {
        message: 'This response_format type is unavailable now',
        type: 'invalid_request_error',
      },
    });
    return (isRefused ? refusal : approves)(res, req, body);
  };
  const unreadable = (then: Reply): Reply[] => [says('Let me think.'), then, then];

  test('tools and a schema in one request', async () => {
    await using guard = await guardedByChat([both]);
    await touches(guard.server);
    expect(reviewsCompleted(guard.server)).toMatchObject([{ review: { status: 'approved' } }]);
  });

  test('any schema: the request without tools is sent again without it, and further ones have none', async () => {
    await using guard = await guardedByChat(unreadable(schema));
    await touches(guard.server);
    expect(reviewsCompleted(guard.server)).toMatchObject([{ review: { status: 'approved' } }]);
    expect(guard.bodies().map(({ response_format }) => response_format !== undefined)).toEqual([
      false,
      true,
      false,
    ]);
    await touches(guard.server);
    expect(guard.bodies().slice(3)).toMatchObject([{ model: 'guard-1' }]);
  });
});

test('a conversation that is longer than the window of the model is cut, and halved while the model refuses it', async () => {
  const chars: number[] = [];
  const small: Reply = (res, req, body) => {
    const { length } = JSON.stringify(body);
    chars.push(length);
    const refusal = refusing(400, {
      error: { message: 'maximum context length', code: 'context_length_exceeded' },
    });
    return (length > 40_000 ? refusal : approves)(res, req, body);
  };
  await using guard = await guardedByChat([small]);
  for (let turn = 0; turn < 10; turn++)
    await guard.server.client.turn(THREAD, `remember ${'wörd '.repeat(3_000)}`);
  await touches(guard.server);
  expect(reviewsCompleted(guard.server)).toMatchObject([{ review: { status: 'approved' } }]);
  expect(chars.length).toBeGreaterThan(1);
  expect(chars.at(-1)).toBeGreaterThan(15_000);
});

test('without auto_review.model, another provider that has no default is refused, with a hint', async () => {
  const server = await startServer({
    model: null,
    config: `${own}[model_providers.guard]\nbase_url = "http://127.0.0.1:9/v1"\n[auto_review]\nmodel_provider = "guard"\n`,
  });
  await server.client.request('thread/start', {});
  await touches(server);
  const rationale = expect.stringContaining(
    'no model is set for the provider guard: set auto_review.model in config.toml',
  );
  expect(reviewsCompleted(server)).toMatchObject([{ review: { status: 'denied', rationale } }]);
});
