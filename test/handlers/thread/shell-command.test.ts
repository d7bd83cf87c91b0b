import { describe, expect, test } from 'vitest';
import { idOf } from '../../support/counting-ids.ts';
import { Gate } from '../../support/gate.ts';
import { functionCall, message, response } from '../../support/test-model.ts';
import {
  commandServer,
  completed,
  done,
  FREE_CONFIG,
  says,
  THREAD,
} from '../../tools/command-server.ts';

describe('thread/shellCommand', () => {
  test('between turns runs in a turn of its own, without a request to the model', async () => {
    const server = await commandServer([done]);
    expect(
      await server.client.request('thread/shellCommand', {
        threadId: THREAD,
        command: 'echo hi; exit 2',
      }),
    ).toEqual({});
    const { turn } = await server.client.waitFor('turn/completed');
    expect(turn).toMatchObject({ status: 'completed', items: [] });
    expect(completed(server)).toMatchObject([
      {
        source: 'userShell',
        status: 'failed',
        exitCode: 2,
        command: "/bin/sh -lc 'echo hi; exit 2'",
        aggregatedOutput: 'hi\n',
        processId: null,
      },
    ]);
    expect(server.model.requests).toHaveLength(0);
    const { thread } = await server.client.request('thread/read', {
      threadId: THREAD,
      includeTurns: true,
    });
    expect(thread.turns[0]?.items).toEqual(completed(server));
    await server.client.turn(THREAD, 'what did it say?');
    expect(JSON.stringify(server.model.request(1).input)).toContain(
      'echo hi; exit 2\\n</command>\\n<result>\\nExit code: 2\\n',
    );
  });

  test('runs outside the sandbox, without approval', async () => {
    const config = FREE_CONFIG.replace('danger-full-access', 'read-only').replace(
      'never',
      'untrusted',
    );
    const server = await commandServer([], { config });
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'echo x > ../out; cat ../out',
    });
    await server.client.waitFor('turn/completed');
    expect(completed(server)).toMatchObject([{ status: 'completed', aggregatedOutput: 'x\n' }]);
  });

  test('is ended by an interrupt', async () => {
    const server = await commandServer([]);
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'echo up; exec sleep 1000',
    });
    await says(server, 'up');
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: '' });
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('interrupted');
    expect(completed(server)).toMatchObject([
      { status: 'failed', exitCode: 137, aggregatedOutput: 'up\n' },
    ]);
  });

  test('is killed after its timeout', async () => {
    const server = await commandServer([]);
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'echo up; exec sleep 1000',
      timeoutMs: 900,
    });
    await says(server, 'up');
    await server.clock.timerOf(900);
    server.clock.advance(900);
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
    expect(completed(server)).toMatchObject([{ status: 'failed', exitCode: 124 }]);
  });

  test('during a turn joins it: the turn ends after the command, and the model gets its output with the next request', async () => {
    const gate = new Gate();
    const server = await commandServer([
      [{ type: 'started' }, gate, ...response(message('done')).slice(1)],
      done,
    ]);
    const { turn } = await server.client.request('turn/start', { threadId: THREAD, input: [] });
    await gate.reached;
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'mkfifo p; echo up; read x < p',
    });
    await says(server, 'up');
    gate.open();
    await server.client.waitFor('item/completed', ({ item }) => item.type === 'agentMessage');
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'echo it > p',
    });
    await server.client.waitFor('turn/completed');
    expect(server.client.notifications('turn/started')).toHaveLength(1);
    expect(
      server.client.notifications('item/completed').filter(({ turnId }) => turnId !== turn.id),
    ).toEqual([]);
    expect(server.model.requests).toHaveLength(1);
    await server.client.turn(THREAD, 'next');
    expect(JSON.stringify(server.model.request(2).input)).toContain('mkfifo p');
  });

  test('accepts input for the model, which is asked when the command has ended', async () => {
    const server = await commandServer([response(message('an answer'))]);
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'mkfifo p; echo up; read x < p',
    });
    await says(server, 'up');
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: [{ type: 'text', text: 'hi', text_elements: [] }],
    });
    expect(turn.id).toBe(server.client.notifications('turn/started')[0]?.turn.id);
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'echo it > p',
    });
    expect((await server.client.waitFor('turn/completed')).turn).toMatchObject({
      status: 'completed',
      items: [{ text: 'an answer' }],
    });
  });

  test('can run at the same time as a command of the model', async () => {
    const wait = response(
      functionCall('exec_command', { cmd: 'mkfifo p; echo up; read x < p; echo "$x"' }),
    );
    const server = await commandServer([wait, done]);
    await server.client.request('turn/start', { threadId: THREAD, input: [] });
    await says(server, 'up');
    await server.client.request('thread/shellCommand', {
      threadId: THREAD,
      command: 'echo mine > p',
    });
    await server.client.waitFor('turn/completed');
    expect(
      completed(server).map(({ source, aggregatedOutput }) => [source, aggregatedOutput]),
    ).toContainEqual(['unifiedExecStartup', 'up\nmine\n']);
  });

  test('is refused without a command, and for an unknown thread', async () => {
    const server = await commandServer([]);
    const empty = await server.client.refusal('thread/shellCommand', {
      threadId: THREAD,
      command: ' \n',
    });
    expect(empty).toEqual({
      code: -32600,
      message: 'command must not be empty',
      data: { code: 'empty_command' },
    });
    const unknown = await server.client.refusal('thread/shellCommand', {
      threadId: idOf(9),
      command: 'true',
    });
    expect(unknown).toMatchObject({ code: -32600, data: { code: 'thread_not_found' } });
  });
});
