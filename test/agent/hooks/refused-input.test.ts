import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../support/gate.ts';
import { text } from '../../support/test-client.ts';
import { functionCall, message, response, USAGE } from '../../support/test-model.ts';
import type { TestServer } from '../../support/test-server.ts';
import { done, FREE_CONFIG } from '../../tools/command-server.ts';
import { ended, hookServer, modelInput, prints, THREAD } from './hook-server.ts';

const REFUSES = { command: 'grep -q secret && exit 2; exit 0' };
const STOPS = {
  command: `grep -q secret && ${prints({ continue: false, stopReason: 'closed today' })}; exit 0`,
};
/** Waits for a file, which a test makes when it wants the hook to end. */
const WAITS = 'touch ../waits; while [ ! -e ../go ]; do sleep 0.01; done';

async function steered(
  { client, model }: TestServer,
  words: string,
  when: () => Promise<unknown>,
): Promise<void> {
  const { turn } = await client.request('turn/start', { threadId: THREAD, input: text('go') });
  await model.asked(1);
  await when();
  await client.request('turn/steer', {
    threadId: THREAD,
    expectedTurnId: turn.id,
    input: text(words),
  });
}

describe('continue: false of UserPromptSubmit ends the turn without asking the model', () => {
  test('at its beginning', async () => {
    const server = await hookServer({ UserPromptSubmit: [STOPS] }, []);
    expect(await server.client.turn(THREAD, 'a secret')).toMatchObject({
      status: 'completed',
      items: [],
    });
    expect(ended(server)).toMatchObject([{ status: 'stopped' }]);
    expect(server.model.requests).toEqual([]);
  });

  test('when it is steered', async () => {
    const gate = new Gate();
    const server = await hookServer({ UserPromptSubmit: [STOPS] }, [
      [...response(message('never shown')).slice(0, 2), gate],
      done,
    ]);
    await steered(server, 'a secret', async () => {});
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
    expect(server.model.requests).toHaveLength(1);
    await server.client.turn(THREAD, 'fine');
    expect(JSON.stringify(server.model.request(2).input)).not.toContain('secret');
  });
});

test('input that arrives beside one that ends the turn is in the history, and the model does not read it', async () => {
  const server = await hookServer(
    { UserPromptSubmit: [{ command: `${WAITS}; ${STOPS.command}` }] },
    [done],
  );
  const { turn } = await server.client.request('turn/start', {
    threadId: THREAD,
    input: text('a secret'),
  });
  await expect.poll(() => existsSync(join(server.folder, 'waits')), { timeout: 10_000 }).toBe(true);
  await server.client.request('turn/steer', {
    threadId: THREAD,
    expectedTurnId: turn.id,
    input: text('beside'),
  });
  writeFileSync(join(server.folder, 'go'), '');
  await server.client.waitFor('turn/completed');
  const { thread } = await server.client.request('thread/read', {
    threadId: THREAD,
    includeTurns: true,
  });
  expect(thread.turns).toMatchObject([
    { status: 'completed', items: [{ type: 'userMessage', content: [{ text: 'beside' }] }] },
  ]);
  await server.client.turn(THREAD, 'fine');
  expect(modelInput(server, 1)).toEqual(['user: fine']);
});

test('continue: false of SessionStart after a compaction in mid-turn completes the turn', async () => {
  const hooks = {
    SessionStart: [
      { matcher: 'compact', command: prints({ continue: false, stopReason: 'enough' }) },
    ],
  };
  const full = {
    type: 'completed' as const,
    usage: { ...USAGE, inputTokens: 20_000, totalTokens: 20_000 },
  };
  const calls = [...response(functionCall('exec_command', { cmd: 'true' })).slice(0, -1), full];
  const config = `model_auto_compact_token_limit = 10000\n${FREE_CONFIG}`;
  const server = await hookServer(hooks, [calls, response(message('the summary'))], { config });
  expect((await server.client.turn(THREAD, 'go')).status).toBe('completed');
  expect(server.model.requests).toHaveLength(2);
});

describe('input that is refused after the final answer', () => {
  test('does not have the model asked again', async () => {
    const hooks = { UserPromptSubmit: [REFUSES], Stop: [{ command: WAITS }] };
    const server = await hookServer(hooks, [done]);
    await steered(server, 'a secret', () =>
      expect.poll(() => existsSync(join(server.folder, 'waits')), { timeout: 10_000 }).toBe(true),
    );
    writeFileSync(join(server.folder, 'go'), '');
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
    expect(server.model.requests).toHaveLength(1);
    expect(ended(server).filter(({ eventName }) => eventName === 'stop')).toHaveLength(1);
  });

  test('does not take the Stop hooks from the turn', async () => {
    const hooks = {
      UserPromptSubmit: [REFUSES],
      Stop: [{ command: 'true' }],
      PostModelRequest: [{ command: WAITS }],
    };
    const server = await hookServer(hooks, [done]);
    await steered(server, 'a secret', () =>
      expect.poll(() => existsSync(join(server.folder, 'waits')), { timeout: 10_000 }).toBe(true),
    );
    writeFileSync(join(server.folder, 'go'), '');
    expect((await server.client.waitFor('turn/completed')).turn.status).toBe('completed');
    expect(server.model.requests).toHaveLength(1);
    expect(ended(server).map(({ eventName }) => eventName)).toEqual([
      'userPromptSubmit',
      'postModelRequest',
      'userPromptSubmit',
      'stop',
    ]);
  });
});

describe('the preview of a thread', () => {
  const listed = async ({ client }: TestServer, searchTerm: string | null = null) =>
    (await client.request('thread/list', { searchTerm })).data.map(({ preview }) => preview);

  test('never has input that was refused: the first that is not refused counts', async () => {
    const server = await hookServer({ UserPromptSubmit: [REFUSES] }, [done]);
    await server.client.turn(THREAD, 'my secret');
    expect(await listed(server)).toEqual(['']);
    expect(await listed(server, 'secret')).toEqual([]);
    expect((await server.client.request('thread/read', { threadId: THREAD })).thread.preview).toBe(
      '',
    );
    await server.client.turn(THREAD, 'fine words');
    expect(await listed(server, 'fine')).toEqual(['fine words']);
    expect((await server.client.request('thread/read', { threadId: THREAD })).thread.preview).toBe(
      'fine words',
    );
  });

  test('has input whose check was interrupted, because the history has it', async () => {
    const server = await hookServer({ UserPromptSubmit: [{ command: WAITS }] }, []);
    const { turn } = await server.client.request('turn/start', {
      threadId: THREAD,
      input: text('unchecked'),
    });
    await expect
      .poll(() => existsSync(join(server.folder, 'waits')), { timeout: 10_000 })
      .toBe(true);
    await server.client.request('turn/interrupt', { threadId: THREAD, turnId: turn.id });
    await server.client.waitFor('turn/completed');
    expect(await listed(server)).toEqual(['unchecked']);
  });
});
