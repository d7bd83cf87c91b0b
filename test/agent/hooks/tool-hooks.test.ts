import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { functionCall, response } from '../../support/test-model.ts';
import type { TestServer } from '../../support/test-server.ts';
import {
  completed,
  done,
  FREE_CONFIG,
  modelOutput,
  runs,
  writes,
} from '../../tools/command-server.ts';
import { GUARDED_CONFIG } from '../guardian/guardian-server.ts';
import { ended, hookServer, keeps, kept, modelInput, prints, THREAD } from './hook-server.ts';

const WAIT_MS = 300;
const ASKING = FREE_CONFIG.replace('"never"', '"untrusted"');

/** Answers the first request for approval. */
async function answerApproval(
  { client }: TestServer,
  result: object,
): Promise<{ reason?: string | null }> {
  const { id, params } = await client.first(
    'a question',
    ({ method, id }) => id !== undefined && /requestApproval$/.test(method ?? ''),
  );
  client.send(JSON.stringify({ id, result }));
  return params as { reason?: string | null };
}

describe('PreToolUse', () => {
  test('gets the call before it begins, and clients see the run of the hook', async () => {
    const server = await hookServer(
      { PreToolUse: [{ matcher: 'Bash', command: keeps('input'), timeout: 7 }] },
      [runs('echo hi'), done],
    );
    const { id: turnId } = await server.client.turn(THREAD, 'go');
    expect(kept(server, 'input')).toEqual([
      {
        session_id: THREAD,
        turn_id: turnId,
        transcript_path: null,
        cwd: server.cwd,
        hook_event_name: 'PreToolUse',
        model: 'test-model',
        permission_mode: 'bypassPermissions',
        tool_name: 'Bash',
        tool_input: { command: 'echo hi' },
        tool_use_id: 'call_1',
      },
    ]);
    const run = {
      id: `pre-tool-use:0:${join(server.home, 'hooks.json')}:call_1`,
      eventName: 'preToolUse',
      handlerType: 'command',
      executionMode: 'sync',
      scope: 'turn',
      sourcePath: join(server.home, 'hooks.json'),
      source: 'user',
      displayOrder: 0,
      statusMessage: null,
      startedAt: expect.any(Number),
    };
    const running = { ...run, status: 'running', completedAt: null, durationMs: null, entries: [] };
    expect(server.client.notifications('hook/started')).toEqual([
      { threadId: THREAD, turnId, run: running },
    ]);
    const over = {
      ...run,
      status: 'completed',
      completedAt: expect.any(Number),
      durationMs: expect.any(Number),
      entries: [],
    };
    expect(server.client.notifications('hook/completed')).toEqual([
      { threadId: THREAD, turnId, run: over },
    ]);
    const order = server.client.messages.map(({ method }) => method);
    expect(order.indexOf('hook/completed')).toBeLessThan(
      order.lastIndexOf('item/commandExecution/outputDelta'),
    );
    expect(completed(server)).toMatchObject([{ aggregatedOutput: 'hi\n' }]);
  });

  test.each([
    ['exit code 2', 'echo "not here" >&2; exit 2', 'not here'],
    ['decision: block', prints({ decision: 'block', reason: 'not here' }), 'not here'],
    [
      'permissionDecision: deny',
      prints({
        hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'not here' },
      }),
      'not here',
    ],
    [
      'exit code 2 without a reason',
      'exit 2',
      'A PreToolUse hook refused this without giving a reason.',
    ],
  ])(
    'refuses a call by %s: it does not begin, and the model reads why',
    async (_, command, reason) => {
      const server = await hookServer({ PreToolUse: [{ command }] }, [runs('touch made'), done]);
      await server.client.turn(THREAD, 'go');
      expect(modelOutput(server)).toBe(
        `A PreToolUse hook blocked this call, so it was not performed. Reason: ${reason}`,
      );
      expect(ended(server)).toMatchObject([
        { status: 'blocked', entries: [{ kind: 'feedback', text: reason }] },
      ]);
      expect(existsSync(join(server.cwd, 'made'))).toBe(false);
      expect(completed(server)).toEqual([]);
    },
  );

  test('changes the input of a command and of a patch', async () => {
    const updated = (command: string) =>
      prints({ hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { command } } });
    const patch = (name: string) =>
      `*** Begin Patch\n*** Add File: ${name}\n+text\n*** End Patch\n`;
    const server = await hookServer(
      {
        PreToolUse: [
          { matcher: 'Bash', command: updated('touch two') },
          {
            matcher: 'Edit|Write',
            command: updated(patch('four'))
              .replaceAll('\\n', '\\\\n')
              .replace("printf %s '", "printf '%b' '"),
          },
        ],
      },
      [
        response(
          functionCall('exec_command', { cmd: 'touch one' }),
          functionCall('apply_patch', { input: patch('three') }, { callId: 'call_2' }),
        ),
        done,
      ],
    );
    await server.client.turn(THREAD, 'go');
    expect(
      ['one', 'two', 'three', 'four'].filter((name) => existsSync(join(server.cwd, name))),
    ).toEqual(['two', 'four']);
  });

  test('gives the model context, which it reads with the output', async () => {
    const command = prints({
      systemMessage: 'for the user',
      hookSpecificOutput: { additionalContext: 'for the model' },
    });
    const server = await hookServer({ PreToolUse: [{ command }] }, [runs('true'), done]);
    await server.client.turn(THREAD, 'go');
    expect(modelInput(server, 2)).toEqual([
      'user: go',
      expect.stringContaining('output: '),
      'developer: for the model',
    ]);
    expect(ended(server)).toMatchObject([
      {
        entries: [
          { kind: 'warning', text: 'for the user' },
          { kind: 'context', text: 'for the model' },
        ],
      },
    ]);
  });

  test('asks the user about a command that policy allows', async () => {
    const command = prints({
      hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'Really?' },
    });
    const server = await hookServer({ PreToolUse: [{ command }] }, [runs('ls > made'), done], {
      config: FREE_CONFIG.replace('"never"', '"on-request"'),
    });
    const turn = server.client.turn(THREAD, 'go');
    expect((await answerApproval(server, { decision: 'decline' })).reason).toBe('Really?');
    await turn;
    expect(completed(server)).toMatchObject([{ status: 'declined' }]);
    expect(existsSync(join(server.cwd, 'made'))).toBe(false);
  });

  test('with the approval policy "never", a call that a hook wants to ask about is refused', async () => {
    const command = prints({
      hookSpecificOutput: { permissionDecision: 'ask', permissionDecisionReason: 'Really?' },
    });
    const server = await hookServer({ PreToolUse: [{ command }] }, [runs('touch made'), done]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toMatch(/needs approval.*Really\?/);
    expect(existsSync(join(server.cwd, 'made'))).toBe(false);
  });

  test('fires for every kind of call: commands, their input, patches, and plain tools', async () => {
    const server = await hookServer(
      { PreToolUse: [{ command: keeps('input') }], PostToolUse: [{ command: keeps('output') }] },
      [
        runs('read x; echo got $x', { tty: true, yield_time_ms: WAIT_MS }),
        writes('it\n', { yield_time_ms: 5_000 }),
        response(
          functionCall(
            'apply_patch',
            { input: '*** Begin Patch\n*** Add File: a\n+b\n*** End Patch\n' },
            { callId: 'call_3' },
          ),
        ),
        response(functionCall('update_plan', { plan: [] }, { callId: 'call_4' })),
        done,
      ],
    );
    const turn = server.client.turn(THREAD, 'go');
    await server.clock.timerOf(WAIT_MS);
    server.clock.advance(WAIT_MS);
    await turn;
    expect(kept(server, 'input').map(({ tool_name }) => tool_name)).toEqual([
      'Bash',
      'write_stdin',
      'apply_patch',
      'update_plan',
    ]);
    // The first command ends while the second call waits for it.
    const after = kept(server, 'output').map(({ tool_name, tool_use_id }) => [
      tool_name,
      tool_use_id,
    ]);
    expect(after).toEqual([
      ['write_stdin', 'call_2'],
      ['Bash', 'call_1'],
      ['apply_patch', 'call_3'],
      ['update_plan', 'call_4'],
    ]);
  });

  test('does not fire for a command of the user', async () => {
    const server = await hookServer(
      { PreToolUse: [{ command: 'exit 2' }], PostToolUse: [{ command: 'exit 2' }] },
      [],
    );
    await server.client.request('thread/shellCommand', { threadId: THREAD, command: 'touch made' });
    await server.client.waitFor('turn/completed');
    expect(existsSync(join(server.cwd, 'made'))).toBe(true);
    expect(server.client.notifications('hook/started')).toEqual([]);
  });

  test('runs the matching hooks side by side, and clients see their ends in order', async () => {
    // Each waits for the other: neither ends if they run one after the other.
    const meets = (own: string, other: string) =>
      `touch ../${own}; while [ ! -e ../${other} ]; do sleep 0.01; done; echo ${own} >&2; exit 2`;
    const hooks = [
      { matcher: 'Bash', command: meets('a', 'b') },
      { matcher: 'B.sh', command: meets('b', 'a') },
      { matcher: 'Bas', command: 'exit 2' },
      { matcher: 'apply_patch', command: 'exit 2' },
    ];
    const server = await hookServer({ PreToolUse: hooks }, [runs('true'), done]);
    await server.client.turn(THREAD, 'go');
    expect(
      ended(server).map(({ displayOrder, entries }) => [displayOrder, entries[0]?.text]),
    ).toEqual([
      [0, 'a'],
      [1, 'b'],
    ]);
    expect(modelOutput(server)).toContain('Reason: a');
  });
});

describe('PostToolUse', () => {
  test('replaces the output for the model after the item has completed', async () => {
    const command = keeps('input', { decision: 'block', reason: 'look again' });
    const server = await hookServer({ PostToolUse: [{ matcher: 'Bash', command }] }, [
      runs('echo hi'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(kept(server, 'input')).toMatchObject([
      { tool_name: 'Bash', tool_input: { command: 'echo hi' }, tool_response: 'hi\n' },
    ]);
    expect(completed(server)).toMatchObject([{ aggregatedOutput: 'hi\n', status: 'completed' }]);
    expect(modelOutput(server)).toBe('look again');
    const order = server.client.messages.map(({ method }) => method);
    expect(order.lastIndexOf('hook/started')).toBeGreaterThan(
      order.indexOf('item/commandExecution/outputDelta'),
    );
  });

  test('a refusal without a reason has no effect, because the call is done', async () => {
    const server = await hookServer({ PostToolUse: [{ command: 'exit 2' }] }, [
      runs('echo hi'),
      done,
    ]);
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toContain('hi');
    expect(ended(server)).toMatchObject([{ status: 'failed' }]);
  });

  test('does not fire for a call that was refused', async () => {
    const server = await hookServer(
      { PreToolUse: [{ command: 'exit 2' }], PostToolUse: [{ command: 'true' }] },
      [runs('true'), done],
    );
    await server.client.turn(THREAD, 'go');
    expect(ended(server).map(({ eventName }) => eventName)).toEqual(['preToolUse']);
  });
});

describe('PermissionRequest', () => {
  const DENIES = { hookSpecificOutput: { decision: { behavior: 'deny' } } };
  const decides = (decision: object) =>
    prints({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });

  test('allows in place of the user', async () => {
    const server = await hookServer(
      {
        PermissionRequest: [
          { command: keeps('input', JSON.parse(decisionJson({ behavior: 'allow' }))) },
        ],
      },
      [runs('touch made', { justification: 'for you' }), done],
      {
        config: ASKING,
      },
    );
    await server.client.turn(THREAD, 'go');
    expect(existsSync(join(server.cwd, 'made'))).toBe(true);
    expect(kept(server, 'input')).toMatchObject([
      {
        tool_name: 'Bash',
        tool_input: { command: 'touch made', description: 'for you' },
        approval: 'command',
      },
    ]);
    expect(
      server.client.messages.filter(({ id, method }) => id !== undefined && method !== undefined),
    ).toEqual([]);
  });

  test('knows what the approval is for, whatever the model says about it', async () => {
    const justification = 'network access to packages.example.com';
    const escalated = runs('npm test', { sandbox_permissions: 'require_escalated', justification });
    const server = await hookServer(
      { PermissionRequest: [{ command: keeps('input', DENIES) }] },
      [escalated, done],
      {
        config: ASKING.replace('danger-full-access', 'workspace-write').replace(
          'untrusted',
          'on-request',
        ),
      },
    );
    await server.client.turn(THREAD, 'go');
    const tool_input = { command: 'npm test', description: justification };
    expect(kept(server, 'input')).toMatchObject([
      { tool_name: 'Bash', tool_input, approval: 'outside_sandbox' },
    ]);
  });

  test('denies in place of the user, with a reason for the model', async () => {
    const server = await hookServer(
      { PermissionRequest: [{ command: decides({ behavior: 'deny', message: 'never that' }) }] },
      [runs('touch made'), done],
      { config: ASKING },
    );
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toBe('never that');
    expect(completed(server)).toMatchObject([{ status: 'declined' }]);
  });

  test('a denial goes before a permission, and can end the turn', async () => {
    const hooks = [
      { command: decides({ behavior: 'allow' }) },
      { command: decides({ behavior: 'deny', interrupt: true }) },
    ];
    const server = await hookServer({ PermissionRequest: hooks }, [runs('touch made')], {
      config: ASKING,
    });
    expect((await server.client.turn(THREAD, 'go')).status).toBe('interrupted');
    expect(existsSync(join(server.cwd, 'made'))).toBe(false);
  });

  test('without a decision, the user is asked', async () => {
    const server = await hookServer(
      { PermissionRequest: [{ command: 'true' }] },
      [runs('touch made'), done],
      { config: ASKING },
    );
    const turn = server.client.turn(THREAD, 'go');
    await answerApproval(server, { decision: 'accept' });
    await turn;
    expect(existsSync(join(server.cwd, 'made'))).toBe(true);
  });

  test('answers before the guardian does', async () => {
    const server = await hookServer(
      { PermissionRequest: [{ command: decides({ behavior: 'deny', message: 'never that' }) }] },
      [runs('touch made'), done],
      {
        config: GUARDED_CONFIG,
      },
    );
    await server.client.turn(THREAD, 'go');
    expect(modelOutput(server)).toBe('never that');
    expect(server.client.notifications('item/autoApprovalReview/started')).toEqual([]);
  });

  function decisionJson(decision: object): string {
    return JSON.stringify({ hookSpecificOutput: { decision } });
  }
});
