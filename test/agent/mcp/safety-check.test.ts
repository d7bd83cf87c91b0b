import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  exampleServer,
  mcpCall,
  mcpItems,
  mcpThread,
  runTurn,
  textOf,
  until,
  withServers,
} from '../../mcp/mcp-thread.ts';
import { listening, startProxy, TRUSTED, tlsFiles } from '../../model/loopback-proxy.ts';
import { answer, question } from '../../support/asking.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import {
  ALLOW,
  assesses,
  DENY,
  GuardedModel,
  reviewsCompleted,
} from '../guardian/guardian-server.ts';

const ASK = 'mcpServer/elicitation/request';

/** A check that a command makes. The script has the call as `call`. */
function checkedBy(script: string, more = ''): string {
  const program = `let text = ''; process.stdin.on('data', (part) => (text += part)).on('end', () => { const call = JSON.parse(text); ${script} });`;
  const say =
    'const say = (decision, reason) => process.stdout.write(JSON.stringify({ decision, reason }));';
  return `[mcp_safety_check]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(say + program)}]\n${more}\n`;
}

const config = (check: string, top = '') => withServers(exampleServer() + check, top);

test('ok: the call runs; the check gets it as JSON', async () => {
  const check = checkedBy(
    `say(call.server === 'ex' && call.tool === 'echo' && call.arguments.message === 'hi' && call.cwd ? 'ok' : 'block')`,
  );
  const server = await mcpThread([mcpCall('echo', { message: 'hi' })], { config: config(check) });
  await runTurn(server);
  expect(mcpItems(server)[0]?.status).toBe('completed');
});

test('a check runs in the home, whatever the project has', async () => {
  const server = await mcpThread([mcpCall('echo')], {
    config: config(checkedBy(`say('block', process.cwd())`)),
  });
  await runTurn(server);
  expect(mcpItems(server)[0]?.error?.message).toContain(server.home);
});

test('the failure of a check does not show its secrets', async () => {
  const check =
    '[mcp_safety_check]\ncommand = "/nowhere/check-of-words-only"\nargs = ["--token", "check-of-words-only"]\n';
  const server = await mcpThread([mcpCall('echo')], { config: config(check) });
  const turn = runTurn(server);
  const request = await question(server.client, ASK);
  expect(request.params.message).toMatch(/The safety check of MCP calls failed/);
  expect(request.params.message).not.toContain('check-of-words-only');
  answer(server.client, request, { action: 'decline' });
  await turn;
});

test('block: the call is not made, and the model reads why', async () => {
  const server = await mcpThread([mcpCall('echo', { message: 'hi' })], {
    config: config(checkedBy(`say('block', 'Not on Sundays.')`)),
  });
  await runTurn(server);
  expect(mcpItems(server)[0]).toMatchObject({
    status: 'failed',
    error: { message: 'A safety check blocked this call. Not on Sundays.' },
  });
  expect(textOf(server)).toContain('Not on Sundays.');
});

test('the check is asked about the read of a resource, too', async () => {
  const read = functionCall('read_mcp_resource', { server: 'ex', uri: 'example://one' });
  const check = checkedBy(
    `say(call.tool === 'read_mcp_resource' && call.arguments.uri === 'example://one' ? 'block' : 'ok', 'Not this one.')`,
  );
  const server = await mcpThread([read], { config: config(check) });
  await runTurn(server);
  expect(mcpItems(server)[0]).toMatchObject({
    tool: 'read_mcp_resource',
    status: 'failed',
    result: null,
  });
  expect(textOf(server)).toContain('Not this one.');
});

test('the list that a cursor continues is judged like a read: the model writes the cursor', async () => {
  const lists = [{ server: 'ex', cursor: 'anything' }, { server: 'ex' }].map((args, index) =>
    functionCall('list_mcp_resources', args, { callId: `l${index}` }),
  );
  const check = checkedBy(
    `say(call.tool === 'list_mcp_resources' && call.arguments.cursor === 'anything' ? 'block' : 'ok', 'No cursors.')`,
  );
  const server = await mcpThread(lists, { config: config(check) });
  await runTurn(server);
  expect(mcpItems(server).map(({ status, error }) => [status, error?.message])).toEqual([
    ['failed', 'A safety check blocked this call. No cursors.'],
    ['completed', undefined],
  ]);
});

test('where each call of a server is asked about, reads of its resources are, too', async () => {
  const read = functionCall('read_mcp_resource', { server: 'ex', uri: 'example://one' });
  const server = await mcpThread([read], {
    config: withServers(exampleServer('ex', 'default_tools_approval_mode = "prompt"')),
  });
  const turn = runTurn(server);
  const request = await question(server.client, ASK);
  expect(request.params).toMatchObject({
    serverName: 'ex',
    _meta: { tool_params: { uri: 'example://one' } },
  });
  answer(server.client, request, { action: 'decline' });
  await turn;
  expect(mcpItems(server)[0]).toMatchObject({ status: 'failed', result: null });
});

test('a reason is read whole, though a pipe of 64 KiB divides one of its characters', async () => {
  const script = `
    const begin = '{"decision":"block","reason":"';
    process.stdout.write(' '.repeat(65536 - 1001 - begin.length) + begin + '😀'.repeat(400) + '"}');`;
  const server = await mcpThread([mcpCall('echo')], { config: config(checkedBy(script)) });
  await runTurn(server);
  expect(mcpItems(server)[0]?.error?.message).toBe(
    `A safety check blocked this call. ${'😀'.repeat(400)}`,
  );
});

test('ask: the person is asked, even where policy would have run the tool, and for this call only', async () => {
  const calls = [
    mcpCall('echo', { message: '1' }, { callId: 'a' }),
    mcpCall('echo', { message: '2' }, { callId: 'b' }),
  ];
  const server = await mcpThread(calls, {
    config: config(checkedBy(`say('ask', 'It looks odd.')`)),
  });
  const turn = runTurn(server);
  const first = await question(server.client, ASK);
  expect(first.params.message).toBe(
    'Allow the MCP server ex to run the tool "echo"? It looks odd.',
  );
  expect(first.params._meta).not.toHaveProperty('persist');
  answer(server.client, first, { action: 'accept', content: {}, _meta: { persist: 'session' } });
  answer(server.client, await question(server.client, ASK, 2), { action: 'decline' });
  await turn;
  expect(mcpItems(server).map(({ status }) => status)).toEqual(['completed', 'failed']);
});

test.each([
  'approval_policy = "never"\nsandbox_mode = "danger-full-access"',
  'approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = false } }',
])('ask: the person is asked whatever the approval policy: %j', async (top) => {
  const server = await mcpThread([mcpCall('echo', { message: 'x' })], {
    config: config(checkedBy(`say('ask')`), top),
  });
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ASK), { action: 'accept' });
  await turn;
  expect(mcpItems(server)[0]?.status).toBe('completed');
});

test('a URL: the request goes through the proxy of the environment, with its certificates', async () => {
  const check = createTlsServer(tlsFiles('other-host'), (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"decision":"block","reason":"Not from here."}');
  });
  check.on('secureConnection', (socket) => onTestFinished(() => void socket.destroy()));
  const proxy = await startProxy(await listening(check));
  const env = { ...TRUSTED, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
  const server = await mcpThread([mcpCall('echo', { message: 'hi' })], {
    config: config('[mcp_safety_check]\nurl = "https://other.example/check"\n'),
    env,
  });
  await runTurn(server);
  expect(textOf(server)).toContain('Not from here.');
  expect(proxy.seen.map(({ line }) => line)).toEqual(['CONNECT other.example:443']);
});

test.each([
  ['approves', ALLOW, 'completed'],
  ['denies', DENY, 'failed'],
])('ask: a guardian that is the reviewer %s', async (_what, assessment, status) => {
  const model = new GuardedModel({
    turns: [response(mcpCall('echo')), response(message('done'))],
    reviews: [assesses(assessment)],
  });
  const check = checkedBy(`say('ask', 'It looks odd.')`);
  const server = await mcpThread([], {
    model,
    config: config(check, 'approvals_reviewer = "auto_review"'),
  });
  await runTurn(server);
  expect([mcpItems(server)[0]?.status, reviewsCompleted(server).length]).toEqual([status, 1]);
  expect(JSON.stringify(model.reviews[0]?.input)).toContain('It looks odd.');
});

test('ask: for a call of an agent, the person is asked at the client of its parent', async () => {
  const server = await mcpThread([], { config: config(checkedBy(`say('ask', 'It looks odd.')`)) });
  server.model.clear();
  const reply = ({ input }: { input: { type: string }[] }) => {
    const text = JSON.stringify(input);
    if (text.includes('look into it') && !text.includes('spawn_agent')) {
      return text.includes('function_call_output')
        ? response(message('found'))
        : response(mcpCall('echo', { message: 'agent' }, { callId: 'agent_call' }));
    }
    return text.includes('function_call_output')
      ? response(message('done'))
      : response(functionCall('spawn_agent', { message: 'look into it' }));
  };
  server.model.push(reply, reply, reply, reply);
  const turn = runTurn(server);
  const asked = await question(server.client, ASK);
  expect(asked.params).toMatchObject({
    serverName: 'ex',
    agent: { parentThreadId: server.threadId },
  });
  expect(asked.params.threadId).not.toBe(server.threadId);
  answer(server.client, asked, { action: 'accept' });
  await turn;
  await until(server, 'the item of the agent', () => mcpItems(server).length === 1);
  expect(mcpItems(server)[0]).toMatchObject({
    status: 'completed',
    result: { content: [{ text: 'echo: agent' }] },
  });
  await until(
    server,
    'the end of the agent',
    () => server.client.notifications('turn/completed').length === 2,
  );
});

test.each<[string, string, string]>([
  ['fails', checkedBy('process.exit(4)'), 'it ended with exit code 4'],
  ...[
    'fine',
    '',
    'ok: {"decision":"ok"}',
    '{"decision":"ok"} {"decision":"ok"}',
    '{"decision":"block","decision":"ok"}',
    '{"decision":"block","d\\u0065cision":"ok"}',
    '{"decision":"ok","reason":5}',
    '{"decision":"ok","but":"no"}',
    '{"decision":true}',
    '[{"decision":"ok"}]',
  ].map(
    (text) =>
      [
        `prints ${text}`,
        checkedBy(`process.stdout.write(${JSON.stringify(text)})`),
        'it did not answer with a JSON object',
      ] as [string, string, string],
  ),
  [
    'prints without end',
    checkedBy(`for (;;) fs.writeSync(1, 'x'.repeat(65536))`),
    'it printed more than 64 MiB',
  ],
  ['cannot be started', '[mcp_safety_check]\ncommand = "/no/such/check"\n', '/no/such/check'],
  ['is misconfigured', '[mcp_safety_check]\ncomand = "x"\n', 'not a key of mcp_safety_check'],
])('a check that %s counts as ask', async (_what, check, why) => {
  const server = await mcpThread([mcpCall('echo')], { config: config(check) });
  const turn = runTurn(server);
  const asked = await question(server.client, ASK);
  expect(asked.params.message).toContain(why);
  answer(server.client, asked, { action: 'decline' });
  await turn;
});

test('a check that takes too long counts as ask', async () => {
  const server = await mcpThread([mcpCall('echo')], {
    config: config(checkedBy(`require('node:net').createServer().listen(0)`, 'timeout_sec = 3')),
  });
  const turn = runTurn(server);
  await server.clock.timerOf(3_000);
  server.clock.advance(3_000);
  const asked = await question(server.client, ASK);
  expect(asked.params.message).toContain('it did not end within 3 s, and was stopped');
  answer(server.client, asked, { action: 'decline' });
  await turn;
});

test('a check by URL gets the call by POST', async () => {
  const got: unknown[] = [];
  const http = createServer((request, reply) => {
    let text = '';
    request
      .on('data', (part) => (text += String(part)))
      .on('end', () => {
        got.push([
          request.method,
          request.headers['x-key'],
          (JSON.parse(text) as { tool: string }).tool,
        ]);
        reply.end(JSON.stringify({ decision: 'block', reason: 'No.' }));
      });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/check`;
  const server = await mcpThread([mcpCall('echo')], {
    config: config(`[mcp_safety_check]\nurl = "${url}"\nhttp_headers = { x-key = "k" }\n`),
  });
  await runTurn(server);
  expect([got, mcpItems(server)[0]?.error?.message]).toEqual([
    [['POST', 'k', 'echo']],
    'A safety check blocked this call. No.',
  ]);
});
