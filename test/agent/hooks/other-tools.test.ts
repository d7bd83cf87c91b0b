import { expect, test } from 'vitest';
import {
  exampleServer,
  mcpCall,
  mcpItems,
  mcpThread,
  runTurn,
  textOf,
  withServers,
} from '../../mcp/mcp-thread.ts';
import { answer, question } from '../../support/asking.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response, TestModel } from '../../support/test-model.ts';
import { startServer } from '../../support/test-server.ts';
import { ended, hooksJson, keeps, kept, modelInput, prints, THREAD } from './hook-server.ts';

const ASK = prints({
  hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'look at it' },
});

test('hooks see the calls of MCP tools, with their results', async () => {
  const hooks = hooksJson({
    PreToolUse: [{ matcher: 'mcp__ex__.*', command: keeps('before') }],
    PostToolUse: [{ matcher: 'mcp__ex__echo', command: keeps('after') }],
  });
  const calls = [
    mcpCall('echo', { message: 'a' }, { callId: 'a' }),
    functionCall('mcp__ex__echo', { message: 'b' }, { callId: 'b' }),
  ];
  const server = await mcpThread(calls, { files: { 'home/hooks.json': hooks } });
  await runTurn(server);
  const common = { tool_name: 'mcp__ex__echo' };
  expect(kept(server, 'before')).toMatchObject([
    { ...common, tool_input: { message: 'a' } },
    { ...common, tool_input: { message: 'b' } },
  ]);
  expect(kept(server, 'after')).toMatchObject([
    { ...common, tool_response: { content: [{ type: 'text', text: 'echo: a' }] } },
    { ...common, tool_response: { content: [{ type: 'text', text: 'echo: b' }] } },
  ]);
});

test('hooks refuse and change the calls of MCP tools', async () => {
  const updated = prints({
    hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { message: 'changed' } },
  });
  const hooks = hooksJson({
    PreToolUse: [
      { matcher: 'mcp__ex__fail', command: 'echo no >&2; exit 2' },
      { matcher: 'mcp__ex__echo', command: updated },
    ],
  });
  const calls = [
    mcpCall('fail', {}, { callId: 'a' }),
    mcpCall('echo', { message: 'hi' }, { callId: 'b' }),
  ];
  const server = await mcpThread(calls, { files: { 'home/hooks.json': hooks } });
  await runTurn(server);
  expect(textOf(server, 'a')).toContain('A PreToolUse hook blocked this call');
  expect(mcpItems(server)).toMatchObject([{ id: 'b', arguments: { message: 'changed' } }]);
});

test('a hook demands the approval of an MCP call that policy allows', async () => {
  const config = withServers(
    exampleServer('ex', 'default_tools_approval_mode = "approve"'),
    'approval_policy = "on-request"',
  );
  const files = { 'home/hooks.json': hooksJson({ PreToolUse: [{ command: ASK }] }) };
  const server = await mcpThread([mcpCall('echo', { message: 'hi' })], { config, files });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  const asked = await question(server.client, 'mcpServer/elicitation/request');
  expect(asked.params).toMatchObject({
    serverName: 'ex',
    message: expect.stringContaining('look at it') as string,
  });
  answer(server.client, asked, { action: 'decline', content: null, _meta: null });
  await server.client.turnCompleted(turn.id);
  expect(mcpItems(server)).toMatchObject([
    { status: 'failed', error: { message: 'The user declined this call.' } },
  ]);
});

test('a hook answers in place of the user about an MCP call', async () => {
  const config = withServers(
    exampleServer('ex', 'default_tools_approval_mode = "prompt"'),
    'approval_policy = "on-request"',
  );
  const decision = prints({ hookSpecificOutput: { decision: { behavior: 'allow' } } });
  const files = {
    'home/hooks.json': hooksJson({
      PermissionRequest: [{ matcher: 'mcp__ex__echo', command: decision }],
    }),
  };
  const server = await mcpThread([mcpCall('echo', { message: 'hi' })], { config, files });
  await runTurn(server);
  expect(mcpItems(server)).toMatchObject([{ status: 'completed' }]);
});

test('a hook about an MCP call gets its own arguments, and what the approval is for', async () => {
  const config = withServers(
    exampleServer('ex', 'default_tools_approval_mode = "prompt"'),
    'approval_policy = "on-request"',
  );
  const deny = { hookSpecificOutput: { decision: { behavior: 'deny' } } };
  const files = {
    'home/hooks.json': hooksJson({ PermissionRequest: [{ command: keeps('input', deny) }] }),
  };
  const args = { message: 'hi', description: 'a real argument', justification: 'I must' };
  const server = await mcpThread([mcpCall('echo', args)], { config, files });
  await runTurn(server);
  expect(kept(server, 'input')).toMatchObject([
    { tool_name: 'mcp__ex__echo', tool_input: args, description: 'I must', approval: 'tool' },
  ]);
});

test('matchers know an MCP server by the name that it is configured with', async () => {
  const config = withServers(exampleServer('my-ex'), '');
  const hooks = hooksJson({
    PreToolUse: [{ matcher: 'mcp__my-ex__echo', command: 'echo no >&2; exit 2' }],
  });
  const server = await mcpThread(
    [functionCall('mcp__my_ex__echo', { message: 'hi' }, { callId: 'a' })],
    {
      config,
      files: { 'home/hooks.json': hooks },
    },
  );
  await runTurn(server);
  expect(textOf(server, 'a')).toContain('A PreToolUse hook blocked this call');
});

test('mcp_tool hooks call the configured servers, without an item', async () => {
  const hook = (server: string, tool: string, field = 'prompt') => ({
    type: 'mcp_tool',
    server,
    tool,
    input: { message: `$\{${field}}` },
  });
  const hooks = {
    UserPromptSubmit: [
      hook('ex', 'echo'),
      hook('ex', 'fail'),
      hook('ex', 'absent'),
      hook('other', 'echo'),
      hook('ex', 'echo', 'tool_name'),
    ],
  };
  const server = await mcpThread([], { files: { 'home/hooks.json': hooksJson(hooks) } });
  await runTurn(server);
  expect(ended(server).map(({ status, entries }) => [status, entries[0]?.text])).toEqual([
    ['completed', 'echo: go'],
    ['failed', 'the call of the tool fail failed: it went wrong'],
    [
      'failed',
      'the call of the tool absent failed: the MCP server ex has no tool absent, or its configuration disables it',
    ],
    ['failed', 'there is no MCP server named other'],
    ['failed', 'the event has no field tool_name, which the input of the hook names'],
  ]);
  expect(mcpItems(server)).toEqual([]);
});

const LOOKUP = {
  name: 'lookup',
  description: 'Looks up.',
  inputSchema: { type: 'object', properties: {} },
};
const TICKETS = {
  type: 'namespace' as const,
  name: 'tickets',
  description: 'Tickets.',
  tools: [
    {
      type: 'function' as const,
      name: 'exec_command',
      description: 'Finds.',
      inputSchema: LOOKUP.inputSchema,
      deferLoading: true,
    },
  ],
};

test('hooks see the tools of clients: one in a namespace is no command, whatever its name', async () => {
  const hooks = hooksJson({
    PreToolUse: [{ matcher: 'lookup', command: 'exit 2' }, { command: keeps('before') }],
  });
  const named = functionCall('tickets__exec_command', { cmd: 'x' }, { callId: 'b' });
  const model = new TestModel(
    response(functionCall('lookup', { id: 7 }, { callId: 'a' })),
    response(named),
    response(message('done')),
  );
  const server = await startServer({ model, files: { 'home/hooks.json': hooks } });
  await server.client.request('thread/start', { dynamicTools: [LOOKUP, TICKETS] });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  const asked = await question(server.client, 'item/tool/call');
  expect(asked.params).toMatchObject({ tool: 'exec_command', arguments: { cmd: 'x' } });
  answer(server.client, asked, {
    contentItems: [{ type: 'inputText', text: 'found' }],
    success: true,
  });
  await server.client.turnCompleted(turn.id);
  expect(kept(server, 'before')).toMatchObject([
    { tool_name: 'lookup', tool_input: { id: 7 } },
    { tool_name: 'tickets__exec_command', tool_input: { cmd: 'x' } },
  ]);
});

test('a hook refuses a search for tools: the model reads why, also where its API has the search', async () => {
  const hooks = hooksJson({
    PreToolUse: [{ matcher: 'tool_search', command: 'echo no >&2; exit 2' }],
  });
  const item = {
    type: 'tool_search_call' as const,
    call_id: 'a',
    execution: 'client',
    arguments: { query: 'x' },
  };
  const model = new TestModel(
    response([{ type: 'itemCompleted', item }]),
    response(message('done')),
  );
  const server = await startServer({ model, files: { 'home/hooks.json': hooks } });
  await server.client.request('thread/start', { dynamicTools: [TICKETS] });
  await server.client.turn(THREAD, 'go');
  expect(server.model.request(2).input).toContainEqual(
    expect.objectContaining({ type: 'tool_search_output', call_id: 'a', tools: [] }),
  );
  expect(modelInput(server, 2).join('\n')).toContain(
    'developer: A PreToolUse hook blocked this call',
  );
});

test('a client tool in the place of a built-in one is shown with its own arguments', async () => {
  const hooks = hooksJson({
    PreToolUse: [
      { matcher: 'apply_patch', command: keeps('before') },
      { matcher: 'Edit|Write', command: 'exit 2' },
    ],
  });
  const tool = {
    name: 'apply_patch',
    description: 'Patches.',
    inputSchema: { type: 'object', properties: {} },
  };
  const model = new TestModel(
    response(functionCall('apply_patch', { path: 'a', diff: 'b' }, { callId: 'a' })),
    response(message('done')),
  );
  const server = await startServer({ model, files: { 'home/hooks.json': hooks } });
  await server.client.request('thread/start', { dynamicTools: [tool] });
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('go'),
  });
  const asked = await question(server.client, 'item/tool/call');
  answer(server.client, asked, {
    contentItems: [{ type: 'inputText', text: 'done' }],
    success: true,
  });
  await server.client.turnCompleted(turn.id);
  expect(kept(server, 'before')).toMatchObject([
    { tool_name: 'apply_patch', tool_input: { path: 'a', diff: 'b' } },
  ]);
});
