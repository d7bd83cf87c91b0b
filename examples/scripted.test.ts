// Tests of code that uses an agent. The server runs in the tests' process, and its model answers
// from a script.
//
// In a project with `"type": "module"` in its package.json:
//   npm install heddle && npm install --save-dev vitest
//   npx vitest run scripted.test.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AppServer, createAppServer, createScriptedModel, type ScriptedModel } from 'heddle';
import type { Client } from 'heddle/client';
import { afterEach, beforeEach, expect, test } from 'vitest';

/** The code under test: asks the agent whether a change is fine. Only `yes` counts as a yes. */
async function isFine(client: Client, diff: string): Promise<boolean> {
  const { thread } = await client.request('thread/start', { ephemeral: true });
  const { turn, text } = await client.turn({
    threadId: thread.id,
    input: `Is this change fine? Answer yes or no.\n${diff}`,
  }).result;
  if (turn.status !== 'completed') throw new Error(`no review: ${turn.error?.message}`);
  return text.trim().toLowerCase() === 'yes';
}

let home: string;
let model: ScriptedModel | undefined;
let server: AppServer | undefined;

/** Starts a server whose model answers from this script, and returns a client of it. */
async function clientOf(script: string): Promise<Client> {
  model = createScriptedModel(script);
  // Ids count up, and the clock is simulated: a `wait` or `delay` of the script takes no time.
  server = createAppServer({ home, cwd: home, env: {}, model, deterministic: true });
  const client = server.connectClient();
  await client.initialize({ clientInfo: { name: 'scripted-test', version: '1.0.0' } });
  return client;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'scripted-test-'));
});

afterEach(async () => {
  await server?.close();
  rmSync(home, { recursive: true });
  // A request without a response in the script, or an unused response, fails the test.
  model?.assertFollowed();
});

test('only a yes is a yes', async () => {
  const client = await clientOf(`
- match: { user: one more line }
  reply: Yes
- match: { user: delete all tests }
  reply: "No, never."
`);
  expect(await isFine(client, 'one more line')).toBe(true);
  expect(await isFine(client, 'delete all tests')).toBe(false);
});

test('a turn that fails is no review', async () => {
  const client = await clientOf('- error: usageLimitExceeded');
  await expect(isFine(client, 'rename')).rejects.toThrow(/^no review: /);
});

test('a review that takes ten minutes is a review', async () => {
  const client = await clientOf('- [{ wait: 600000 }, Yes]');
  expect(await isFine(client, 'refactor')).toBe(true);
});

test('the client gets the same messages in each run', async () => {
  const client = await clientOf('- [{ reasoning: A question about me. }, I am a script.]');
  const { thread } = await client.request('thread/start', { ephemeral: true });
  const { turn, items } = await client.turn({ threadId: thread.id, input: 'Who are you?' }).result;
  expect({
    thread: thread.id,
    turn: turn.id,
    startedAt: turn.startedAt,
    items: items.map(({ type }) => type),
  }).toEqual({
    thread: '019b76da-a800-7000-8000-000000000001',
    turn: '019b76da-a800-7000-8000-000000000002',
    startedAt: 1_767_225_600,
    items: ['userMessage', 'reasoning', 'agentMessage'],
  });
});
