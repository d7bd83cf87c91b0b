import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  exampleServer,
  mcpCall,
  mcpItems,
  mcpThread,
  offeredBy,
  runTurn,
  textOf,
  withServers,
} from '../../mcp/mcp-thread.ts';
import {
  answer,
  ELICITATION,
  elicitationCount,
  persistOffered,
  question,
} from '../../support/asking.ts';
import { message, response } from '../../support/test-model.ts';
import { configTextOf } from '../../support/test-server.ts';
import {
  ALLOW,
  assesses,
  DENY,
  GuardedModel,
  reviewsCompleted,
} from '../guardian/guardian-server.ts';

const ACCEPT = { action: 'accept', content: {}, _meta: null };

test('a tool without readOnlyHint needs approval, as an elicitation', async () => {
  const server = await mcpThread([mcpCall('write', { path: 'a' })]);
  const turn = runTurn(server);
  const request = await question(server.client, ELICITATION);
  expect(request.params).toEqual({
    threadId: server.threadId,
    turnId: expect.any(String) as string,
    serverName: 'ex',
    mode: 'form',
    message: 'Allow the MCP server ex to run the tool "write"?',
    requestedSchema: { type: 'object', properties: {} },
    _meta: {
      codex_approval_kind: 'mcp_tool_call',
      persist: ['session', 'always'],
      tool_name: 'write',
      tool_description: 'Writes',
      tool_annotations: null,
      tool_params: { path: 'a' },
      tool_params_display: [{ name: 'path', value: 'a', display_name: 'path' }],
    },
  });
  const { thread } = await server.client.request('thread/read', { threadId: server.threadId });
  expect(thread.status).toEqual({ type: 'active', activeFlags: ['waitingOnApproval'] });
  answer(server.client, request, ACCEPT);
  expect((await turn).status).toBe('completed');
  expect(textOf(server)).toMatch(/wrote a/);
  expect(mcpItems(server)[0]).toMatchObject({ status: 'completed', readOnlyHint: null });
});

test.each([
  ['decline', 'The user declined this call.'],
  ['cancel', 'The user declined this call.'],
])('%s: the call fails and the turn goes on', async (action, text) => {
  const server = await mcpThread([mcpCall('write')]);
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), {
    action,
    content: null,
    _meta: null,
  });
  expect((await turn).status).toBe('completed');
  expect(mcpItems(server)[0]).toMatchObject({
    status: 'failed',
    result: null,
    error: { message: text },
  });
  expect(textOf(server)).toContain(text);
});

test('persist: session spares further questions about the tool, in this session', async () => {
  const server = await mcpThread([
    mcpCall('write', {}, { callId: 'a' }),
    mcpCall('write', {}, { callId: 'b' }),
  ]);
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), {
    ...ACCEPT,
    _meta: { persist: 'session' },
  });
  await turn;
  expect([elicitationCount(server), mcpItems(server).map(({ status }) => status)]).toEqual([
    1,
    ['completed', 'completed'],
  ]);
  expect(readFileSync(join(server.home, 'config.toml'), 'utf8')).not.toMatch(/approval_mode/);
});

test('a grant for the session ends when the server changes the definition of the tool', async () => {
  const config = withServers(exampleServer('ex', '', { MCP_MODE: 'redefines' }));
  const server = await mcpThread([mcpCall('write', {}, { callId: 'a' })], { config });
  const first = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), {
    ...ACCEPT,
    _meta: { persist: 'session' },
  });
  await first;
  await vi.waitFor(async () => {
    const { data } = await server.client.request('mcpServerStatus/list', {
      threadId: server.threadId,
    });
    expect(JSON.stringify(data)).toContain('Writes anywhere');
  });
  server.model.push(response(mcpCall('write', {}, { callId: 'b' })), response(message('done')));
  const second = runTurn(server);
  const request = await question(server.client, ELICITATION, 2);
  expect(request.params._meta).toMatchObject({ tool_description: 'Writes anywhere' });
  answer(server.client, request, ACCEPT);
  await second;
});

test('a second call of one response is not made by a grant for the definition that the first one has changed', async () => {
  const config = withServers(exampleServer('ex', '', { MCP_MODE: 'redefines' }));
  const server = await mcpThread(
    [[...mcpCall('write', {}, { callId: 'a' }), ...mcpCall('write', {}, { callId: 'b' })]],
    { config },
  );
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), {
    ...ACCEPT,
    _meta: { persist: 'session' },
  });
  await turn;
  expect(mcpItems(server).map(({ id, status }) => [id, status])).toEqual([
    ['a', 'completed'],
    ['b', 'failed'],
  ]);
  expect(textOf(server, 'b')).toContain(
    'has announced changes of its tools and has not listed them yet',
  );
});

test('tools of two servers with one name for the model are not offered, and a warning names both', async () => {
  const servers = `${exampleServer('ex', '', { MCP_TOOL: 'b__same' })}${exampleServer('ex__b', '', { MCP_TOOL: 'same' })}`;
  const server = await mcpThread([mcpCall('b__same')], { config: withServers(servers) });
  await runTurn(server);
  expect(mcpItems(server)).toEqual([]);
  expect(offeredBy(server.model.requests[0]).map(({ name }) => name)).not.toContain('b__same');
  expect(offeredBy(server.model.requests[0], 'ex__b').map(({ name }) => name)).toContain('echo');
  const warnings = server.client.notifications('warning').map((warning) => warning.message);
  expect(
    warnings.filter((text) => text.includes('b__same of mcp__ex and same of mcp__ex__b')),
  ).toHaveLength(1);
});

test('with the mode writes, each call that may write is asked about anew, and no other', async () => {
  const calls = [
    mcpCall('echo', { message: 'x' }, { callId: 'a' }),
    mcpCall('write', {}, { callId: 'b' }),
    mcpCall('write', {}, { callId: 'c' }),
  ];
  const config = withServers(exampleServer('ex', 'default_tools_approval_mode = "writes"'));
  const server = await mcpThread(calls, { config });
  const turn = runTurn(server);
  const first = await question(server.client, ELICITATION);
  expect(first.params._meta).not.toHaveProperty('persist');
  answer(server.client, first, { ...ACCEPT, _meta: { persist: 'session' } });
  answer(server.client, await question(server.client, ELICITATION, 2), ACCEPT);
  await turn;
  expect([elicitationCount(server), mcpItems(server).map(({ status }) => status)]).toEqual([
    2,
    ['completed', 'completed', 'completed'],
  ]);
});

test('with the mode writes, a call that may write is refused where nobody may be asked, also without a sandbox', async () => {
  const config = withServers(
    exampleServer('ex', 'default_tools_approval_mode = "writes"'),
    'approval_policy = "never"\nsandbox_mode = "danger-full-access"',
  );
  const server = await mcpThread(
    [mcpCall('echo', { message: 'x' }, { callId: 'a' }), mcpCall('write', {}, { callId: 'b' })],
    { config },
  );
  await runTurn(server);
  expect(mcpItems(server).map(({ status }) => status)).toEqual(['completed', 'failed']);
});

test('persist: always is stored in config.toml and holds for other threads', async () => {
  const config = withServers(exampleServer('ex', '# keep me'));
  const server = await mcpThread([mcpCall('write', {}, { callId: 'a' })], { config });
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), {
    ...ACCEPT,
    _meta: { persist: 'always' },
  });
  await turn;
  const approved =
    /tools = \{write = \{approval_mode = "approve", approved_definition = "([\da-f]{64})"\}\}\n/;
  expect(configTextOf(server).replace(approved, '')).toBe(config);
  const { thread } = await server.client.request('thread/start', {});
  server.model.push(response(mcpCall('write', {}, { callId: 'b' })), response(message('done')));
  await runTurn({ client: server.client, threadId: thread.id });
  expect([elicitationCount(server), mcpItems(server).length]).toEqual([1, 2]);
});

test('persist: always changes the entry that a tool has already', async () => {
  const config = withServers(
    exampleServer('ex', '[mcp_servers.ex.tools.write]\napproval_mode = "auto"'),
  );
  const server = await mcpThread([mcpCall('write')], { config });
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), {
    ...ACCEPT,
    _meta: { persist: 'always' },
  });
  await turn;
  expect(configTextOf(server).replace(/approved_definition = "[\da-f]{64}"\n/, '')).toBe(
    config.replace('"auto"', '"approve"'),
  );
});

test('always is not offered for a server that only has the name of one in config.toml', async () => {
  const server = await mcpThread([mcpCall('write')], {
    thread: { config: { mcp_servers: { ex: { env: { OTHER: '1' } } } } },
  });
  const turn = runTurn(server);
  const request = await question(server.client, ELICITATION);
  expect(persistOffered(request)).toEqual(['session']);
  answer(server.client, request, { ...ACCEPT, _meta: { persist: 'always' } });
  await turn;
  expect(configTextOf(server)).not.toMatch(/approval_mode/);
});

test('always is not stored if config.toml defines another server by then, and the user is told', async () => {
  const server = await mcpThread([mcpCall('write')]);
  const turn = runTurn(server);
  const request = await question(server.client, ELICITATION);
  writeFileSync(
    join(server.home, 'config.toml'),
    withServers(exampleServer('ex', '', { OTHER: '1' })),
  );
  answer(server.client, request, { ...ACCEPT, _meta: { persist: 'always' } });
  expect((await turn).status).toBe('completed');
  expect(configTextOf(server)).not.toMatch(/approval_mode/);
  expect(server.client.notifications('warning').map(({ message: text }) => text)).toEqual([
    'The approval could not be stored in config.toml: config.toml does not define the MCP server ex as this thread has it. The tool write is allowed in this session only.',
  ]);
});

test('an approval for the session does not hold for another program that gets the name of the server', async () => {
  const server = await mcpThread([mcpCall('write', {}, { callId: 'a' })]);
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), {
    ...ACCEPT,
    _meta: { persist: 'session' },
  });
  await turn;
  writeFileSync(
    join(server.home, 'config.toml'),
    withServers(exampleServer('ex', '', { OTHER: '1' })),
  );
  await server.client.request('config/mcpServer/reload', undefined);
  server.model.push(response(mcpCall('write', {}, { callId: 'b' })), response(message('done')));
  const again = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION, 2), ACCEPT);
  await again;
  expect(mcpItems(server).map(({ status }) => status)).toEqual(['completed', 'completed']);
});

test.each([
  ['approve', 'write', 0],
  ['prompt', 'echo', 1],
  ['auto', 'write', 1],
])('default_tools_approval_mode %s: %s is asked about %i times', async (mode, tool, count) => {
  const config = withServers(exampleServer('ex', `default_tools_approval_mode = "${mode}"`));
  const server = await mcpThread([mcpCall(tool)], { config });
  const turn = runTurn(server);
  if (count > 0) answer(server.client, await question(server.client, ELICITATION), ACCEPT);
  await turn;
  expect([elicitationCount(server), mcpItems(server)[0]?.status]).toEqual([count, 'completed']);
});

const granular = (mcp_elicitations: boolean) =>
  `approval_policy = { granular = { sandbox_approval = true, rules = true, mcp_elicitations = ${mcp_elicitations} } }`;

test.each([
  ['approval_policy = "never"', 'the approval policy is "never"'],
  [granular(false), 'the approval policy does not allow questions about MCP tools'],
])('%s: such a call is refused without a question, and is shown', async (top, why) => {
  const server = await mcpThread([mcpCall('write')], { config: withServers(exampleServer(), top) });
  await runTurn(server);
  const text = `This tool requires approval, but ${why}, so it was not called.`;
  expect([elicitationCount(server), mcpItems(server)[0]]).toMatchObject([
    0,
    { status: 'failed', error: { message: text } },
  ]);
  expect(textOf(server)).toContain(text.replaceAll('"', '\\"'));
});

test('mcp_elicitations allows the question; never with full access runs the call', async () => {
  const server = await mcpThread([mcpCall('write')], {
    config: withServers(exampleServer(), granular(true)),
  });
  const turn = runTurn(server);
  answer(server.client, await question(server.client, ELICITATION), ACCEPT);
  await turn;
  expect(mcpItems(server)[0]?.status).toBe('completed');
  const free = await mcpThread([mcpCall('write')], {
    config: withServers(
      exampleServer(),
      'approval_policy = "never"\nsandbox_mode = "danger-full-access"',
    ),
  });
  await runTurn(free);
  expect([elicitationCount(free), mcpItems(free)[0]?.status]).toEqual([0, 'completed']);
});

const GUARDED = 'approvals_reviewer = "auto_review"';

async function guardedCall(
  reviews: ReturnType<typeof assesses>[],
  top = GUARDED,
  tools = [mcpCall('write', { path: 'a' })],
) {
  const model = new GuardedModel({
    turns: [...tools.map((call) => response(call)), response(message('done'))],
    reviews,
  });
  const server = await mcpThread([], { model, config: withServers(exampleServer(), top) });
  const turn = await runTurn(server);
  return { ...server, model, turn };
}

test('where the guardian is the reviewer, it answers in place of the person', async () => {
  const server = await guardedCall([assesses(ALLOW)]);
  expect([elicitationCount(server), mcpItems(server)[0]?.status]).toEqual([0, 'completed']);
  expect(reviewsCompleted(server)).toMatchObject([
    {
      targetItemId: 'call_1',
      review: { status: 'approved' },
      action: {
        type: 'mcpToolCall',
        server: 'ex',
        toolName: 'write',
        toolTitle: null,
        connectorId: null,
        connectorName: null,
      },
    },
  ]);
  expect(mcpItems(server)[0]).toMatchObject({
    approvalReviews: [{ review: { status: 'approved' } }],
  });
  expect(JSON.stringify(server.model.reviews[0]?.input)).toMatch(/mcp_tool_call/);
});

test.each([
  ['denies', assesses(DENY), 'It is far too risky.'],
  ['does not answer with an assessment', assesses('no idea'), 'automatic review'],
])('a guardian that %s: the call is not made', async (_what, review, text) => {
  const server = await guardedCall([review]);
  expect(mcpItems(server)[0]).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining(text) as string },
  });
  expect(reviewsCompleted(server)).toMatchObject([{ review: { status: 'denied' } }]);
});

test('three denials in a row interrupt the turn', async () => {
  const calls = ['a', 'b', 'c'].map((callId) => mcpCall('write', { path: callId }, { callId }));
  const server = await guardedCall([assesses(DENY)], GUARDED, calls);
  expect([server.turn.status, mcpItems(server).length]).toEqual(['interrupted', 3]);
});

test.each([
  ['passes once', false, ['denied', 'approved']],
  ['is reviewed again, if the definition of the tool has changed', true, ['denied', 'denied']],
])('a call that the user allowed after its denial %s', async (_what, changes, statuses) => {
  const model = new GuardedModel({
    turns: [response(mcpCall('write')), response(message('done'))],
    reviews: [assesses(DENY)],
  });
  const config = withServers(exampleServer('ex', '', { MCP_MODE: 'redefines' }), GUARDED);
  const server = await mcpThread([], { model, config });
  const { threadId, client } = server;
  await runTurn(server);
  await client.request('thread/approveGuardianDeniedAction', {
    threadId,
    event: reviewsCompleted(server)[0],
  });
  if (changes) {
    await client.request('mcpServer/tool/call', {
      threadId,
      server: 'ex',
      tool: 'write',
      arguments: {},
    });
    await vi.waitFor(async () => {
      expect(JSON.stringify(await client.request('mcpServerStatus/list', { threadId }))).toContain(
        'Writes anywhere',
      );
    });
  }
  model.push(response(mcpCall('write', {}, { callId: 'b' })), response(message('done')));
  await runTurn(server);
  expect(reviewsCompleted(server).map(({ review }) => review.status)).toEqual(statuses);
});
