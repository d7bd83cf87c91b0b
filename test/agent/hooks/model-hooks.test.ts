import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AsideCall } from '../../../src/agent/mcp/call-aside.ts';
import { HOOK_EVENTS, hookEvent } from '../../../src/config/hooks/hook-events.ts';
import { failedHook } from '../../../src/hooks/hook-result.ts';
import { failedCheck } from '../../../src/hooks/read-output.ts';
import type { TurnError } from '../../../src/protocol/generated/types.ts';
import { placeholder } from '../../hooks/placeholder.ts';
import { answer, question } from '../../support/asking.ts';
import { text } from '../../support/test-client.ts';
import {
  functionCall,
  message,
  messageBegun,
  response,
  type ScriptedResponse,
  saying,
} from '../../support/test-model.ts';
import { done, FREE_CONFIG, modelOutput, runs } from '../../tools/command-server.ts';
import { answerMcpCalls, ended, hookServer, THREAD } from './hook-server.ts';

const answers = (ok: boolean, reason: string | null) =>
  response(message(JSON.stringify({ ok, reason })));

describe('a prompt', () => {
  test('is put to the model with the event, and refuses what does not meet its condition', async () => {
    const hook = {
      type: 'prompt',
      prompt: 'No commands on Sundays. $ARGUMENTS',
      model: 'small-model',
    };
    const server = await hookServer({ PreToolUse: [hook] }, [
      runs('touch made'),
      answers(false, 'it is Sunday'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    const asked = server.model.request(2);
    expect(asked).toMatchObject({ model: 'small-model', tools: [] });
    expect(JSON.stringify(asked.input)).toMatch(/No commands on Sundays\. \{.*touch made/);
    expect(modelOutput(server)).toContain('it is Sunday');
    expect(ended(server)).toMatchObject([
      {
        handlerType: 'prompt',
        status: 'blocked',
        entries: [{ kind: 'feedback', text: 'it is Sunday' }],
      },
    ]);
  });

  test('lets pass what meets its condition, and its tokens are counted', async () => {
    const server = await hookServer(
      { PreToolUse: [{ type: 'prompt', prompt: 'Anything goes.' }] },
      [runs('echo hi'), answers(true, null), done],
    );
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toContain('hi');
    expect(
      server.client.notifications('thread/tokenUsage/updated').at(-1)?.tokenUsage.total.totalTokens,
    ).toBe(45);
  });

  test('goes on with a turn by Stop', async () => {
    const server = await hookServer({ Stop: [{ type: 'prompt', prompt: 'The tests were run.' }] }, [
      done,
      answers(false, 'run them'),
      done,
      answers(true, null),
    ]);
    await server.client.turn(THREAD, 'go');
    expect(server.client.notifications('item/completed').map(({ item }) => item.type)).toContain(
      'hookPrompt',
    );
  });

  test('is asked again once if its answer cannot be read', async () => {
    const server = await hookServer({ PreToolUse: [{ type: 'prompt', prompt: 'Fine?' }] }, [
      runs('echo hi'),
      response(message('I think so.')),
      answers(true, null),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toContain('hi');
    expect(server.model.request(3).input.slice(-2)).toMatchObject([
      { role: 'assistant' },
      { role: 'user' },
    ]);
  });
});

const fails = (message: string, codexErrorInfo: TurnError['codexErrorInfo']): ScriptedResponse => [
  { type: 'failed', error: { message, codexErrorInfo, additionalDetails: null } },
];
const hangs = async function* () {
  await new Promise(() => {});
};

describe('a check by a model that fails counts as no', () => {
  const FAILURES: Record<string, ScriptedResponse> = {
    'a text': saying('I think so.'),
    'a text around the answer': saying('Sure: {"ok": true, "reason": null}'),
    'a text behind the answer': saying('{"ok": true, "reason": null} Have fun.'),
    'a code block': saying('```json\n{"ok": true, "reason": null}\n```'),
    'a string': saying('{"ok": "true", "reason": null}'),
    'the string false': saying('{"ok": "false", "reason": null}'),
    'a number': saying('{"ok": 1}'),
    'no decision': saying('{"reason": "fine"}'),
    'two decisions': saying('{"ok": false, "ok": true}'),
    'two decisions, one with an escape': saying('{"ok": false, "\\u006fk": true}'),
    'a further key': saying('{"ok": true, "reason": null, "but": "no"}'),
    'two answers': saying('{"ok": false}{"ok": true}'),
    'a list': saying('[{"ok": true}]'),
    'an empty text': saying(''),
    'an empty answer': response(),
    'an answer without an end': messageBegun('{"ok": true}'),
    'a stream without events': [],
    'too many requests': fails('429', { responseTooManyFailedAttempts: { httpStatusCode: 429 } }),
    'an error of the server': fails('500', 'internalServerError'),
    'an error of any kind': fails('no model today', 'other'),
    'a model that throws': () => {
      throw new TypeError('broken');
    },
  };

  test.each(Object.entries(FAILURES))('%s', async (_, failure) => {
    const server = await hookServer({ PreToolUse: [{ type: 'prompt', prompt: 'Fine?' }] }, [
      runs('touch made'),
      failure,
      failure,
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(existsSync(join(server.cwd, 'made'))).toBe(false);
    expect(ended(server)).toMatchObject([
      { status: 'blocked', entries: [{ kind: 'error' }, { kind: 'feedback' }] },
    ]);
  });

  test.each(HOOK_EVENTS)('$name', ({ label, name, refuses, canStop, failsShut }) => {
    const { effect } = failedCheck(hookEvent(name), failedHook('no model today'));
    const why = expect.stringContaining('no model today');
    expect(effect, label).toEqual(!failsShut ? {} : refuses ? { refuse: why } : { stop: why });
    // Only at the end of a turn does a refusal make the work go on.
    expect(failsShut).toBe((refuses || canStop) && name !== 'stop' && name !== 'subagentStop');
  });

  interface Gate {
    /** The answers of the thread's model before the check. */
    turns: ScriptedResponse[];
    ends: string;
    /** Whether the user would be asked about the call. */
    isAsked?: true;
    /** Whether what the check is about has not happened. */
    isShut(server: Awaited<ReturnType<typeof hookServer>>, asked: number): boolean;
  }
  const isNotAsked: Gate['isShut'] = ({ model }, asked) => model.requests.length === asked;
  const GATES: Record<string, Gate> = {
    SessionStart: { turns: [], ends: 'completed', isShut: isNotAsked },
    UserPromptSubmit: { turns: [], ends: 'completed', isShut: isNotAsked },
    PreModelRequest: { turns: [], ends: 'failed', isShut: isNotAsked },
    PermissionRequest: {
      turns: [runs('touch made')],
      ends: 'completed',
      isShut: ({ cwd }) => !existsSync(join(cwd, 'made')),
      isAsked: true,
    },
    PreToolUse: {
      turns: [runs('touch made')],
      ends: 'completed',
      isShut: ({ cwd }) => !existsSync(join(cwd, 'made')),
    },
    PostToolUse: {
      turns: [runs('echo the-output')],
      ends: 'completed',
      isShut: (server) => !modelOutput(server).includes('the-output'),
    },
  };
  const ANSWERS: Record<string, ScriptedResponse> = {
    'the string true': saying('{"ok": "true", "reason": null}'),
    'half of a character': saying('{"ok": true, "reason": "\\ud800"}'),
    'too long': saying(JSON.stringify({ ok: true, reason: 'x'.repeat(200_000) })),
    'nested too deep': saying('['.repeat(50_000)),
    'a call beside the answer': response(
      message('{"ok": true, "reason": null}'),
      functionCall('exec_command', { cmd: 'touch made' }),
    ),
    'a refusal beside the answer': response([
      {
        type: 'itemCompleted',
        item: {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: '{"ok": true, "reason": null}' },
            { type: 'refusal', refusal: 'No.' } as never,
          ],
        },
      },
    ]),
    'an error': fails('no model today', { responseTooManyFailedAttempts: { httpStatusCode: 429 } }),
  };
  const TABLE = Object.keys(GATES).flatMap((event) =>
    Object.keys(ANSWERS).map((name) => [event, name] as const),
  );

  test.each(TABLE)('%s: %s', async (event, name) => {
    const { turns, ends, isShut, isAsked } = GATES[event] as Gate;
    const config = isAsked ? { config: FREE_CONFIG.replace('"never"', '"untrusted"') } : {};
    const failure = ANSWERS[name] as ScriptedResponse;
    // An error is no answer: the provider has sent the request again already.
    const asked = name === 'an error' ? [failure] : [failure, failure];
    const server = await hookServer(
      { [event]: [{ type: 'prompt', prompt: 'Fine?' }] },
      [...turns, ...asked, done],
      config,
    );
    const { status } = await server.client.turn(THREAD, 'go');
    expect([status, isShut(server, asked.length)]).toEqual([ends, true]);
    expect(ended(server)[0]?.status).toBe(event === 'SessionStart' ? 'stopped' : 'blocked');
  });

  test('a model that hangs until the time limit of the hook', async () => {
    const server = await hookServer(
      { PreToolUse: [{ type: 'agent', prompt: 'Fine?', timeout: 4 }] },
      [runs('touch made'), hangs, done],
    );
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.model.asked(2);
    server.clock.advance(4_000);
    await server.client.turnCompleted(turn.id);
    expect(existsSync(join(server.cwd, 'made'))).toBe(false);
    expect(modelOutput(server)).toContain('it did not end within 4 s, and was stopped');
  });

  test('input is not read by the model of the thread', async () => {
    const failure = fails('no model today', 'badRequest');
    const server = await hookServer({ UserPromptSubmit: [{ type: 'prompt', prompt: 'Fine?' }] }, [
      failure,
      failure,
      done,
    ]);
    expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
    expect(server.model.requests).toHaveLength(2);
    expect(ended(server)).toMatchObject([{ status: 'blocked' }]);
  });
});

test('an agent reads files and looks with commands before it answers', async () => {
  const server = await hookServer(
    { PreToolUse: [{ type: 'agent', prompt: 'The file allows it.' }] },
    [
      runs('echo hi'),
      response(
        functionCall('read_file', { path: 'rules.txt' }, { callId: 'reading' }),
        functionCall('exec_command', { cmd: 'ls; touch made' }, { callId: 'looking' }),
      ),
      answers(false, 'the file says no'),
      done,
    ],
    { files: { 'work/rules.txt': 'nothing is allowed' } },
  );
  await server.client.turn(THREAD, 'go');
  expect(server.model.request(2).tools.map(({ name }) => name)).toEqual([
    'read_file',
    'exec_command',
  ]);
  expect(JSON.stringify(server.model.request(3).input)).toContain('nothing is allowed');
  expect(JSON.stringify(server.model.request(3).input)).toMatch(
    /rules\.txt.*Read-only file system/,
  );
  expect(modelOutput(server)).toContain('the file says no');
  expect(ended(server)).toMatchObject([{ handlerType: 'agent', status: 'blocked' }]);
});

describe('a tool of an MCP server', () => {
  const hook = {
    type: 'mcp_tool',
    server: 'checks',
    tool: 'look',
    input: { command: placeholder('tool_input.command'), all: [placeholder('tool_name')] },
  };

  test('gets its input with the fields of the event, and its text decides', async () => {
    const calls: AsideCall[] = [];
    const callMcpTool = (call: AsideCall) => {
      calls.push(call);
      return call.server === 'checks'
        ? Promise.resolve('{"decision": "block", "reason": "the server says no"}')
        : null;
    };
    answerMcpCalls(callMcpTool);
    const server = await hookServer({ PreToolUse: [hook] }, [runs('echo hi'), done]);
    await server.client.turn(THREAD, 'go');
    expect(calls).toEqual([
      { server: 'checks', tool: 'look', input: { command: 'echo hi', all: ['Bash'] } },
    ]);
    expect(modelOutput(server)).toContain('the server says no');
    expect(ended(server)).toMatchObject([{ handlerType: 'mcpTool', status: 'blocked' }]);
  });

  test('fails alone if there is no such server, or its call fails', async () => {
    const callMcpTool = ({ server }: AsideCall) =>
      server === 'broken' ? Promise.reject(new Error('the server has crashed')) : null;
    answerMcpCalls(callMcpTool);
    const server = await hookServer({ PreToolUse: [hook, { ...hook, server: 'broken' }] }, [
      runs('echo hi'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toContain('hi');
    expect(ended(server).map(({ status, entries }) => [status, entries[0]?.text])).toEqual([
      ['failed', 'there is no MCP server named checks'],
      ['failed', 'the call of the tool look failed: the server has crashed'],
    ]);
  });
});

test('an agent that reads a file in which a secret is hidden that may decide: the user is asked', async () => {
  const key = 'sk-live0123456789abcdefghij';
  const hook = { PreToolUse: [{ type: 'agent', prompt: 'The file allows it.' }] };
  const turns = [
    runs('touch made'),
    response(functionCall('read_file', { path: 'run.sh' }, { callId: 'r' })),
    answers(true, null),
    done,
  ];
  const config = 'sandbox_mode = "danger-full-access"\napproval_policy = "on-request"\n';
  const server = await hookServer(hook, turns, {
    files: { 'work/run.sh': `rm -rf ${key}\n` },
    config,
  });
  const turn = server.client.turn(THREAD, 'go');
  const asked = await question(server.client, 'item/commandExecution/requestApproval');
  expect(asked.params.reason).toContain(
    'its decision may depend on a secret that is hidden in a file or an output',
  );
  answer(server.client, asked, { decision: 'decline' });
  await turn;
  expect(JSON.stringify(server.model.request(3).input)).toContain(
    '(keys that are hidden in it, each as [hidden]: 1)',
  );
  expect(existsSync(join(server.cwd, 'made'))).toBe(false);
});
