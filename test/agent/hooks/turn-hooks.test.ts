import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../../../src/model/model.ts';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, response, saying } from '../../support/test-model.ts';
import { done, runs } from '../../tools/command-server.ts';
import { ended, hookServer, keeps, kept, modelInput, prints, THREAD } from './hook-server.ts';

const context = (additionalContext: string) => ({ hookSpecificOutput: { additionalContext } });
describe('SessionStart', () => {
  test('runs once before the first input, and its context comes before that', async () => {
    const server = await hookServer(
      { SessionStart: [{ command: keeps('input', context('the session')) }] },
      [done, done],
    );
    await server.client.turn(THREAD, 'one');
    await server.client.turn(THREAD, 'two');
    expect(kept(server, 'input').map(({ source }) => source)).toEqual(['startup']);
    expect(modelInput(server, 1)).toEqual(['developer: the session', 'user: one']);
    expect(ended(server)).toMatchObject([
      { scope: 'thread', entries: [{ kind: 'context', text: 'the session' }] },
    ]);
  });

  test.each([
    ['startup', {}],
    ['clear', { sessionStartSource: 'clear' as const }],
  ])('tells that the source is %s', async (source, params) => {
    const server = await hookServer(
      { SessionStart: [{ matcher: source, command: keeps('input') }] },
      [done],
    );
    const { thread } = await server.client.request('thread/start', params);
    await server.client.turn(thread.id, 'go');
    expect(kept(server, 'input')).toMatchObject([{ source }]);
  });

  test('tells of a resumed and of a forked thread', async () => {
    const first = await hookServer({ SessionStart: [{ command: keeps('input') }] }, [done]);
    await first.client.turn(THREAD, 'go');
    const server = await first.restart({ files: {} });
    server.model.push(done, done);
    await server.client.request('thread/resume', { threadId: THREAD });
    await server.client.turn(THREAD, 'go');
    const fork = await server.client.request('thread/fork', { threadId: THREAD });
    await server.client.turn(fork.thread.id, 'go');
    expect(kept(server, 'input').map(({ source }) => source)).toEqual([
      'startup',
      'resume',
      'fork',
    ]);
  });

  test('ends the turn by continue: false; clients see the input, and the model is not asked', async () => {
    const command = prints({ continue: false, stopReason: 'closed today' });
    const server = await hookServer({ SessionStart: [{ command }] }, []);
    expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
    expect(server.model.requests).toEqual([]);
    expect(ended(server)).toMatchObject([
      { status: 'stopped', entries: [{ kind: 'stop', text: 'closed today' }] },
    ]);
    expect(server.client.notifications('item/completed').map(({ item }) => item.type)).toEqual([
      'userMessage',
    ]);
  });
});

describe('UserPromptSubmit', () => {
  test('gets the text of the input before clients see it, and gives the model context', async () => {
    const server = await hookServer(
      { UserPromptSubmit: [{ command: keeps('input', 'plain context') }] },
      [done],
    );
    await server.client.turn(THREAD, 'go on');
    expect(kept(server, 'input')).toMatchObject([
      { hook_event_name: 'UserPromptSubmit', prompt: 'go on' },
    ]);
    expect(modelInput(server, 1)).toEqual(['user: go on', 'developer: plain context']);
    const order = server.client.messages.map(({ method }) => method);
    expect(order.indexOf('hook/completed')).toBeLessThan(order.indexOf('item/started'));
  });

  test('refuses input: the turn completes without it, and no later prompt has it', async () => {
    const command = 'grep -q secret && { echo "no secrets" >&2; exit 2; }; exit 0';
    const server = await hookServer({ UserPromptSubmit: [{ command }] }, [done]);
    expect(await server.client.turn(THREAD, 'a secret')).toMatchObject({
      status: 'completed',
      items: [],
    });
    expect(ended(server)).toMatchObject([
      { status: 'blocked', entries: [{ kind: 'feedback', text: 'no secrets' }] },
    ]);
    expect(server.client.notifications('item/started')).toEqual([]);
    await server.client.turn(THREAD, 'fine');
    expect(modelInput(server, 1)).toEqual(['user: fine']);
    const { thread } = await server.client.request('thread/read', {
      threadId: THREAD,
      includeTurns: true,
    });
    expect(thread.turns.map(({ items }) => items.map(({ type }) => type))).toEqual([
      [],
      ['userMessage', 'agentMessage'],
    ]);
  });

  test.each([
    ['decision: block', { decision: 'block', reason: 'no secrets', ...context('of the hook') }],
    ['continue: false', { continue: false, stopReason: 'no secrets', ...context('of the hook') }],
  ])(
    'refuses input by %s: the next turn has the context of the hook and that of the client, also after a restart',
    async (_, says) => {
      const command = `grep -q secret && ${prints(says)}; exit 0`;
      const first = await hookServer({ UserPromptSubmit: [{ command }] }, []);
      const additionalContext = { page: { kind: 'untrusted' as const, value: 'seen' } };
      expect(await first.client.turn(THREAD, 'a secret', { additionalContext })).toMatchObject({
        status: 'completed',
        items: [],
      });
      expect(first.model.requests).toEqual([]);
      const server = await first.restart({ files: {} });
      server.model.push(done, done);
      await server.client.request('thread/resume', { threadId: THREAD });
      await server.client.turn(THREAD, 'fine', { additionalContext });
      await server.client.turn(THREAD, 'fine, too', { additionalContext });
      const before = [
        'user: <context name="page">\nseen\n</context>',
        'developer: of the hook',
        'user: fine',
      ];
      expect(modelInput(server, 1)).toEqual(before);
      expect(modelInput(server, 2)).toEqual([...before, 'assistant: done', 'user: fine, too']);
    },
  );

  test('refuses steering: the turn goes on with the context of the hook', async () => {
    const gate = new Gate();
    const command = `grep -q secret && ${prints({ decision: 'block', reason: 'no', ...context('of the hook') })}; exit 0`;
    const server = await hookServer({ UserPromptSubmit: [{ command }] }, [
      [...saying('never shown').slice(0, 2), gate],
      done,
    ]);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.model.asked(1);
    await server.client.request('turn/steer', {
      threadId: THREAD,
      expectedTurnId: turn.id,
      input: text('a secret'),
    });
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
    expect(modelInput(server, 2)).toEqual(['user: go', 'developer: of the hook']);
  });

  test('refuses steering, and the turn goes on without it', async () => {
    const gate = new Gate();
    const command = 'grep -q secret && exit 2; exit 0';
    const server = await hookServer({ UserPromptSubmit: [{ command }] }, [
      [...saying('never shown').slice(0, 2), gate],
      done,
    ]);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.model.asked(1);
    await server.client.request('turn/steer', {
      threadId: THREAD,
      expectedTurnId: turn.id,
      input: text('a secret'),
    });
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
    expect(modelInput(server, 2)).toEqual(['user: go']);
  });

  test('input whose check a kill cut off is shown to clients, and the model does not read it', async () => {
    const first = await hookServer(
      { UserPromptSubmit: [{ command: 'touch ../began; sleep 100' }] },
      [],
    );
    await first.client.request('turn/start', { threadId: THREAD, input: text('unchecked') });
    await first.client.waitFor('hook/started');
    const server = await first.restart({ files: { 'home/hooks.json': '{}' } });
    server.model.push(done);
    const { thread } = await server.client.request('thread/resume', { threadId: THREAD });
    expect(thread.turns).toMatchObject([
      { status: 'interrupted', items: [{ type: 'userMessage', content: [{ text: 'unchecked' }] }] },
    ]);
    await server.client.turn(THREAD, 'go');
    expect(JSON.stringify(server.model.request(1).input)).not.toContain('unchecked');
  });
});

describe('Stop', () => {
  test('goes on with the turn: clients see a hookPrompt, and the model reads the reason', async () => {
    const command = `cat > ../input; grep -q '"stop_hook_active":true' ../input || { echo "run the tests" >&2; exit 2; }`;
    const server = await hookServer({ Stop: [{ command }] }, [saying('one'), saying('two')]);
    const turn = await server.client.turn(THREAD, 'go');
    expect(turn).toMatchObject({
      status: 'completed',
      items: [{ type: 'agentMessage', text: 'two' }],
    });
    const prompts = server.client.notifications(
      'item/completed',
      ({ item }) => item.type === 'hookPrompt',
    );
    const hookRunId = ended(server)[0]?.id;
    expect(prompts.map(({ item }) => item)).toEqual([
      {
        type: 'hookPrompt',
        id: expect.any(String),
        fragments: [{ text: 'run the tests', hookRunId }],
        startedAtMs: expect.any(Number),
        completedAtMs: expect.any(Number),
      },
    ]);
    expect(modelInput(server, 2)).toEqual([
      'user: go',
      'assistant: one',
      `user: <hook_prompt hook_run_id="${hookRunId}">run the tests</hook_prompt>`,
    ]);
    expect(ended(server).map(({ status }) => status)).toEqual(['blocked', 'completed']);
    expect(kept(server, 'input')).toMatchObject([
      { stop_hook_active: true, last_assistant_message: 'two' },
    ]);
    const { thread } = await server.client.request('thread/read', {
      threadId: THREAD,
      includeTurns: true,
    });
    expect(thread.turns[0]?.items.map(({ type }) => type)).toEqual([
      'userMessage',
      'agentMessage',
      'hookPrompt',
      'agentMessage',
    ]);
  });

  test('one that always goes on is stopped, and a warning says so', async () => {
    const server = await hookServer(
      { Stop: [{ command: 'echo more >&2; exit 2' }] },
      Array.from({ length: 101 }, () => done),
    );
    expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
    expect(server.model.requests).toHaveLength(101);
    expect(server.client.notifications('warning').map(({ message: words }) => words)).toEqual([
      'Hooks have continued this turn 100 times, which is the limit. The turn ends.',
    ]);
  }, 60_000);
});

describe('requests to the model', () => {
  test('PreModelRequest and PostModelRequest run around each request', async () => {
    const hooks = {
      PreModelRequest: [{ command: keeps('before') }],
      PostModelRequest: [{ command: keeps('after') }],
    };
    const server = await hookServer(hooks, [runs('true'), done]);
    await server.client.turn(THREAD, 'go');
    expect(kept(server, 'before')).toHaveLength(2);
    expect(kept(server, 'after')).toMatchObject([
      { status: 'completed', error: null, token_usage: { total_tokens: 15 } },
      {},
    ]);
    const events = server.client.notifications('hook/started').map(({ run }) => run.eventName);
    expect(events).toEqual([
      'preModelRequest',
      'postModelRequest',
      'preModelRequest',
      'postModelRequest',
    ]);
  });

  test('PostModelRequest runs also for a request that an interrupt has ended', async () => {
    const gate = new Gate();
    const hooks = {
      PreModelRequest: [{ command: keeps('input') }],
      PostModelRequest: [{ command: keeps('input') }],
    };
    const server = await hookServer(hooks, [[gate]]);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.model.asked(1);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    await server.client.waitFor('turn/completed');
    const events = kept(server, 'input').map(({ hook_event_name, status = null }) => [
      hook_event_name,
      status,
    ]);
    expect(events).toEqual([
      ['PreModelRequest', null],
      ['PostModelRequest', 'interrupted'],
    ]);
    expect(ended(server).map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  test('PreModelRequest denies a request, which fails the turn', async () => {
    const server = await hookServer(
      { PreModelRequest: [{ command: 'echo "over budget" >&2; exit 2' }] },
      [],
    );
    const turn = await server.client.turn(THREAD, 'go');
    expect(turn).toMatchObject({
      status: 'failed',
      error: {
        codexErrorInfo: 'inferenceHookDenied',
        message: 'A hook denied the request to the model: over budget',
      },
    });
    expect(server.model.requests).toEqual([]);
  });
});

describe('compaction', () => {
  test('PreCompact and PostCompact run around it, and SessionStart before the next input', async () => {
    const hooks = {
      PreCompact: [{ matcher: 'manual', command: keeps('input') }],
      PostCompact: [{ matcher: 'manual', command: keeps('input') }],
      SessionStart: [{ matcher: 'compact', command: keeps('input', 'after it') }],
    };
    const server = await hookServer(hooks, [done, saying('the summary'), done]);
    await server.client.turn(THREAD, 'one');
    await server.client.request('thread/compact/start', { threadId: THREAD });
    await server.client.waitFor('thread/compacted');
    await server.client.turn(THREAD, 'two');
    const events = kept(server, 'input').map(({ hook_event_name, trigger, source }) => [
      hook_event_name,
      trigger ?? source,
    ]);
    expect(events).toEqual([
      ['PreCompact', 'manual'],
      ['PostCompact', 'manual'],
      ['SessionStart', 'compact'],
    ]);
    expect(modelInput(server, 3).slice(-2)).toEqual(['developer: after it', 'user: two']);
  });

  test('PreCompact stops it, and the turn is interrupted', async () => {
    const server = await hookServer(
      { PreCompact: [{ command: prints({ continue: false, stopReason: 'not now' }) }] },
      [done],
    );
    await server.client.turn(THREAD, 'one');
    await server.client.request('thread/compact/start', { threadId: THREAD });
    const { turn } = await server.client.waitFor(
      'turn/completed',
      ({ turn: { status } }) => status !== 'completed',
    );
    expect(turn.status).toBe('interrupted');
    expect(server.client.notifications('thread/compacted')).toEqual([]);
  });
});

describe('ends', () => {
  test('Interrupt runs before the end of a turn that the user interrupts', async () => {
    const gate = new Gate();
    const server = await hookServer(
      { Interrupt: [{ command: keeps('input') }], Stop: [{ command: 'true' }] },
      [[gate]],
    );
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('go'),
    });
    await server.model.asked(1);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    await server.client.waitFor('turn/completed');
    expect(kept(server, 'input')).toMatchObject([
      { hook_event_name: 'Interrupt', turn_id: turn.id },
    ]);
    expect(server.client.messages.map(({ method }) => method).slice(-1)).toEqual([
      'turn/completed',
    ]);
    expect(ended(server).map(({ eventName }) => eventName)).toEqual(['interrupt']);
  });

  test('SessionEnd runs when a thread is closed that has had a turn', async () => {
    const server = await hookServer({ SessionEnd: [{ command: keeps('input') }] }, [done]);
    const other = await server.client.request('thread/start', {});
    await server.client.turn(THREAD, 'go');
    await server.client.request('thread/archive', { threadId: THREAD });
    await server.client.waitFor('hook/completed');
    await server.client.request('thread/archive', { threadId: other.thread.id });
    await server.close();
    expect(kept(server, 'input')).toMatchObject([
      { hook_event_name: 'SessionEnd', session_id: THREAD, reason: 'other' },
    ]);
    expect(server.client.notifications('hook/completed')).toMatchObject([
      { turnId: null, run: { scope: 'thread', status: 'completed' } },
    ]);
  });
});

test('SubagentStart and SubagentStop take the place of SessionStart and Stop for an agent', async () => {
  const hooks = {
    SessionStart: [{ command: keeps('input') }],
    Stop: [{ command: keeps('input') }],
    SubagentStart: [{ matcher: 'default', command: keeps('input') }],
    SubagentStop: [{ command: keeps('input') }],
    PreToolUse: [{ matcher: 'Bash', command: 'exit 2' }],
  };
  const server = await hookServer(hooks, []);
  // The thread and its agent ask side by side.
  const answer = ({ input }: ModelRequest) => {
    const read = JSON.stringify(input);
    if (read.includes('spawn_agent')) return saying('done');
    if (!read.includes('"look"')) return response(functionCall('spawn_agent', { message: 'look' }));
    return read.includes('blocked this call')
      ? saying('agent done')
      : response(functionCall('exec_command', { cmd: 'true' }, { callId: 'call_2' }));
  };
  server.model.push(answer, answer, answer, answer);
  await server.client.turn(THREAD, 'go');
  await server.client.waitFor('hook/completed', ({ run }) => run.eventName === 'subagentStop');
  const events = kept(server, 'input').map(({ hook_event_name, agent_type = null }) => [
    hook_event_name,
    agent_type,
  ]);
  expect(events.sort()).toEqual([
    ['SessionStart', null],
    ['Stop', null],
    ['SubagentStart', 'default'],
    ['SubagentStop', 'default'],
  ]);
  expect(ended(server).filter(({ eventName }) => eventName === 'preToolUse')).toMatchObject([
    { status: 'blocked' },
  ]);
});
