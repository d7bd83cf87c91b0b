import { describe, expect, test } from 'vitest';
import type { McpCall } from '../../../src/agent/turn/turn-part.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import { done, runs, told } from '../../tools/command-server.ts';
import { ended, hookServer, THREAD } from './hook-server.ts';

/** Stands for a field of the event. */
const field = (path: string) => `$\{${path}}`;

const answers = (ok: boolean, reason: string | null) => response(message(JSON.stringify({ ok, reason })));

describe('a prompt', () => {
  test('is put to the model with the event, and refuses what does not meet its condition', async () => {
    const hook = { type: 'prompt', prompt: 'No commands on Sundays. $ARGUMENTS', model: 'small-model' };
    const server = await hookServer({ PreToolUse: [hook] }, [runs('touch made'), answers(false, 'it is Sunday'), done]);
    await server.client.turn(THREAD, 'go');
    const asked = server.model.request(2);
    expect(asked).toMatchObject({ model: 'small-model', tools: [] });
    expect(JSON.stringify(asked.input)).toMatch(/No commands on Sundays\. \{.*touch made/);
    expect(told(server)).toContain('it is Sunday');
    expect(ended(server)).toMatchObject([
      { handlerType: 'prompt', status: 'blocked', entries: [{ kind: 'feedback', text: 'it is Sunday' }] },
    ]);
  });

  test('lets pass what meets its condition, and its tokens are counted', async () => {
    const server = await hookServer({ PreToolUse: [{ type: 'prompt', prompt: 'Anything goes.' }] }, [
      runs('echo hi'),
      answers(true, null),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(told(server)).toContain('hi');
    expect(server.client.notifications('thread/tokenUsage/updated').at(-1)?.tokenUsage.total.totalTokens).toBe(45);
  });

  test('goes on with a turn by Stop', async () => {
    const server = await hookServer({ Stop: [{ type: 'prompt', prompt: 'The tests were run.' }] }, [
      done,
      answers(false, 'run them'),
      done,
      answers(true, null),
    ]);
    await server.client.turn(THREAD, 'go');
    expect(server.client.notifications('item/completed').map(({ item }) => item.type)).toContain('hookPrompt');
  });

  test.each([
    ['cannot be read', response(message('I think so.')), /cannot be read/],
    [
      'is an error',
      [{ type: 'failed', error: { message: 'no model today', codexErrorInfo: 'other', additionalDetails: null } }] as const,
      /no model today/,
    ],
  ])('fails alone if the answer %s', async (_, answer, error) => {
    const server = await hookServer({ UserPromptSubmit: [{ type: 'prompt', prompt: 'Fine?' }] }, [answer, answer, done]);
    server.model.clear();
    server.model.push(answer, ...(Array.isArray(answer) && answer.length === 1 ? [answer] : []), done);
    expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
    expect(ended(server)).toMatchObject([{ status: 'failed', entries: [{ kind: 'error', text: expect.stringMatching(error) }] }]);
  });

  test('a model that hangs ends at the time limit of the hook', async () => {
    const hangs = async function* () {
      await new Promise(() => {});
    };
    const server = await hookServer({ UserPromptSubmit: [{ type: 'prompt', prompt: 'Fine?', timeout: 4 }] }, [hangs, done]);
    const turn = server.client.turn(THREAD, 'go');
    await server.model.asked(1);
    server.clock.advance(4_000);
    expect((await turn).status).toBe('completed');
    expect(ended(server)).toMatchObject([{ status: 'failed', entries: [{ text: 'it did not end within 4 s, and was stopped' }] }]);
  });
});

test('an agent reads files before it answers', async () => {
  const server = await hookServer(
    { PreToolUse: [{ type: 'agent', prompt: 'The file allows it.' }] },
    [
      runs('echo hi'),
      response(functionCall('read_file', { path: 'rules.txt' }, { callId: 'reading' })),
      answers(false, 'the file says no'),
      done,
    ],
    { files: { 'work/rules.txt': 'nothing is allowed' } },
  );
  await server.client.turn(THREAD, 'go');
  expect(server.model.request(2).tools.map(({ name }) => name)).toEqual(['read_file']);
  expect(JSON.stringify(server.model.request(3).input)).toContain('nothing is allowed');
  expect(told(server)).toContain('the file says no');
  expect(ended(server)).toMatchObject([{ handlerType: 'agent', status: 'blocked' }]);
});

describe('a tool of an MCP server', () => {
  const hook = {
    type: 'mcp_tool',
    server: 'checks',
    tool: 'look',
    input: { command: field('tool_input.command'), all: [field('tool_name')] },
  };

  test('gets its input with the fields of the event, and its text decides', async () => {
    const calls: McpCall[] = [];
    const callMcpTool = (call: McpCall) => {
      calls.push(call);
      return call.server === 'checks' ? Promise.resolve('{"decision": "block", "reason": "the server says no"}') : null;
    };
    const server = await hookServer({ PreToolUse: [hook] }, [runs('echo hi'), done], { partKinds: [{ create: () => ({ callMcpTool }) }] });
    await server.client.turn(THREAD, 'go');
    expect(calls).toEqual([{ server: 'checks', tool: 'look', input: { command: 'echo hi', all: ['Bash'] } }]);
    expect(told(server)).toContain('the server says no');
    expect(ended(server)).toMatchObject([{ handlerType: 'mcpTool', status: 'blocked' }]);
  });

  test('fails alone if there is no such server, or its call fails', async () => {
    const callMcpTool = ({ server }: McpCall) => (server === 'broken' ? Promise.reject(new Error('the server has crashed')) : null);
    const server = await hookServer({ PreToolUse: [hook, { ...hook, server: 'broken' }] }, [runs('echo hi'), done], {
      partKinds: [{ create: () => ({ callMcpTool }) }],
    });
    await server.client.turn(THREAD, 'go');
    expect(told(server)).toContain('hi');
    expect(ended(server).map(({ status, entries }) => [status, entries[0]?.text])).toEqual([
      ['failed', 'there is no MCP server named checks'],
      ['failed', 'the call of the tool look failed: the server has crashed'],
    ]);
  });
});
