import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  exampleServer,
  mcpCall,
  mcpItems,
  mcpThread,
  runTurn,
  withServers,
} from '../../mcp/mcp-thread.ts';
import { answer, question } from '../../support/asking.ts';
import { functionCall, response } from '../../support/test-model.ts';
import { done, FREE_CONFIG, modelOutput, runs } from '../../tools/command-server.ts';
import {
  ALLOW as ALLOW_REVIEW,
  assesses,
  GUARDED_CONFIG,
  guarded,
  runsAs,
} from '../guardian/guardian-server.ts';
import { hookServer, hooksJson, keeps, kept, prints, THREAD } from './hook-server.ts';

const ASK = {
  hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'Really?' },
};
const ALLOW = { hookSpecificOutput: { decision: { behavior: 'allow' } } };
const DENY = { hookSpecificOutput: { decision: { behavior: 'deny', message: 'Not that.' } } };
const COMMAND = 'item/commandExecution/requestApproval';
const ELICITATION = 'mcpServer/elicitation/request';
const CHECK = `[mcp_safety_check]\ncommand = "/bin/sh"\nargs = ["-c", 'printf %s "{\\"decision\\":\\"ask\\",\\"reason\\":\\"It looks odd.\\"}"']\n`;
const withPolicy = (policy: string) => FREE_CONFIG.replace('"never"', policy);

test.each([
  ['allows', '"on-request"'],
  ['asks about', '"untrusted"'],
])(
  'a PermissionRequest hook cannot allow what a PreToolUse hook asks about, also if policy %s it',
  async (_what, policy) => {
    const hooks = {
      PreToolUse: [{ command: prints(ASK) }],
      PermissionRequest: [{ command: keeps('input', ALLOW) }],
    };
    const server = await hookServer(
      hooks,
      [runs('touch made', { justification: 'for you' }), done],
      { config: withPolicy(policy) },
    );
    const turn = server.client.turn(THREAD, 'go');
    const asked = await question(server.client, COMMAND);
    expect(asked.params.reason).toMatch(/Really\?$/);
    answer(server.client, asked, { decision: 'decline' });
    await turn;
    expect(existsSync(join(server.cwd, 'made'))).toBe(false);
    expect(kept(server, 'input')).toMatchObject([{ tool_input: { description: 'Really?' } }]);
  },
);

const PATCH = '*** Begin Patch\n*** Add File: made\n+b\n*** End Patch\n';
const HOOKED = { 'home/hooks.json': hooksJson({ PreToolUse: [{ command: prints(ASK) }] }) };

test('the user reads why a hook asks about a command that policy asks about too', async () => {
  const config = withPolicy('"on-request"').replace('danger-full-access', 'read-only');
  const call = runs('touch made', {
    sandbox_permissions: 'require_escalated',
    justification: 'It is needed.',
  });
  const server = await hookServer({ PreToolUse: [{ command: prints(ASK) }] }, [call, done], {
    config,
  });
  const turn = server.client.turn(THREAD, 'go');
  const asked = await question(server.client, COMMAND);
  expect(asked.params.reason).toMatch(/^It is needed\. .*Really\?$/);
  answer(server.client, asked, { decision: 'decline' });
  await turn;
});

test('the user reads why a hook asks about a patch that policy asks about too', async () => {
  const server = await hookServer(
    { PreToolUse: [{ command: prints(ASK) }] },
    [response(functionCall('apply_patch', { input: PATCH }, { callId: 'call_1' })), done],
    { config: withPolicy('"untrusted"').replace('danger-full-access', 'read-only') },
  );
  const turn = server.client.turn(THREAD, 'go');
  const asked = await question(server.client, 'item/fileChange/requestApproval');
  expect(asked.params.reason).toMatch(/Really\?$/);
  answer(server.client, asked, { decision: 'decline' });
  await turn;
});

test('the user reads why a hook asks about an MCP call that policy asks about too', async () => {
  const config = withServers(exampleServer('ex', 'default_tools_approval_mode = "prompt"'));
  const server = await mcpThread([mcpCall('echo')], { config, files: HOOKED });
  const turn = runTurn(server);
  const asked = await question(server.client, ELICITATION);
  expect(asked.params.message).toBe('Allow the MCP server ex to run the tool "echo"? Really?');
  expect(asked.params._meta).toMatchObject({
    reason: 'Really?',
    codex_approval_kind: 'mcp_tool_call',
  });
  answer(server.client, asked, { action: 'decline' });
  await turn;
});

test('the user reads why a hook and the safety check ask about the same call', async () => {
  const server = await mcpThread([mcpCall('echo')], {
    config: withServers(exampleServer() + CHECK),
    files: HOOKED,
  });
  const turn = runTurn(server);
  const asked = await question(server.client, ELICITATION);
  expect(asked.params.message).toMatch(/It looks odd\. Really\?$/);
  answer(server.client, asked, { action: 'decline' });
  await turn;
});

test('the guardian reads why a hook asks about a command that policy asks about too', async () => {
  const server = await guarded(
    { turns: [response(runsAs('call_1', 'touch made'))], reviews: [assesses(ALLOW_REVIEW)] },
    { files: HOOKED },
  );
  await server.client.turn(THREAD, 'go');
  expect(JSON.stringify(server.model.reviews[0]?.input)).toContain('Really?');
  expect(existsSync(join(server.cwd, 'made'))).toBe(true);
});

test('a PermissionRequest hook can deny what a PreToolUse hook asks about', async () => {
  const hooks = {
    PreToolUse: [{ command: prints(ASK) }],
    PermissionRequest: [{ command: prints(DENY) }],
  };
  const server = await hookServer(hooks, [runs('touch made'), done], {
    config: withPolicy('"on-request"'),
  });
  await server.client.turn(THREAD, 'go');
  expect(modelOutput(server)).toBe('Not that.');
});

const granular = (sandbox_approval: boolean) =>
  `{ granular = { sandbox_approval = ${sandbox_approval}, rules = true, mcp_elicitations = true } }`;

test.each([
  ['never', '"never"', 'the approval policy is "never"'],
  [
    'a granular policy',
    granular(false),
    'the approval policy does not allow questions about commands and patches',
  ],
])(
  'with %s, a call that a hook asks about is refused, whoever the reviewer is',
  async (_what, policy, why) => {
    for (const config of [
      withPolicy(policy),
      `approvals_reviewer = "auto_review"\n${withPolicy(policy)}`,
    ]) {
      const server = await hookServer(
        { PreToolUse: [{ command: prints(ASK) }] },
        [runs('touch made'), done],
        { config },
      );
      await server.client.turn(THREAD, 'go');
      expect(modelOutput(server)).toBe(
        `This call needs approval, but ${why}, so it was not performed. Really?`,
      );
      expect(server.client.notifications('item/autoApprovalReview/started')).toEqual([]);
      expect(existsSync(join(server.cwd, 'made'))).toBe(false);
    }
  },
);

test('a granular policy that allows the kind lets a hook ask', async () => {
  const server = await hookServer(
    { PreToolUse: [{ command: prints(ASK) }] },
    [runs('touch made'), done],
    {
      config: withPolicy(granular(true)),
    },
  );
  const turn = server.client.turn(THREAD, 'go');
  answer(server.client, await question(server.client, COMMAND), { decision: 'accept' });
  await turn;
  expect(existsSync(join(server.cwd, 'made'))).toBe(true);
});

test('a PermissionRequest hook still answers in place of the guardian where policy asks', async () => {
  const server = await hookServer(
    { PermissionRequest: [{ command: prints(ALLOW) }] },
    [runs('touch made'), done],
    {
      config: GUARDED_CONFIG,
    },
  );
  await server.client.turn(THREAD, 'go');
  expect(existsSync(join(server.cwd, 'made'))).toBe(true);
});

test('a PermissionRequest hook cannot allow what the safety check asks about, and reads its reason', async () => {
  const files = {
    'home/hooks.json': hooksJson({ PermissionRequest: [{ command: keeps('input', ALLOW) }] }),
  };
  const server = await mcpThread([mcpCall('echo')], {
    config: withServers(exampleServer() + CHECK),
    files,
  });
  const turn = runTurn(server);
  const asked = await question(server.client, ELICITATION);
  expect(asked.params.message).toContain('It looks odd.');
  answer(server.client, asked, { action: 'decline' });
  await turn;
  expect(mcpItems(server)).toMatchObject([{ status: 'failed' }]);
  expect(kept(server, 'input')).toMatchObject([
    { tool_name: 'mcp__ex__echo', tool_input: {}, description: 'It looks odd.' },
  ]);
});
