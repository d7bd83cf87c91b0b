// Tests of code that uses an agent. The server runs in the tests' process, and its model answers from a script.
//
// In a project with `"type": "module"` in its package.json, and `"types": ["node"]` in its tsconfig.json:
//   npm install heddle && npm install --save-dev tsx typescript @types/node
//   node --import tsx --test scripted-test.ts
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type AppServer, createAppServer, createScriptedModel, type ScriptedModel } from 'heddle';
import type { Client } from 'heddle/client';

/** The code under test: asks the agent whether a change is fine. Only `yes` counts as a yes. */
async function isFine(client: Client, diff: string): Promise<boolean> {
  const { thread } = await client.request('thread/start', { ephemeral: true });
  const { turn, text } = await client.turn({ threadId: thread.id, input: `Is this change fine? Answer yes or no.\n${diff}` }).result;
  if (turn.status !== 'completed') throw new Error(`no review: ${turn.error?.message}`);
  return text.trim().toLowerCase() === 'yes';
}

let home: string;
let model: ScriptedModel | undefined;
let server: AppServer | undefined;

/** Starts a server whose model answers from this script, and returns a client of it. */
async function clientOf(script: string): Promise<Client> {
  model = createScriptedModel(script);
  server = createAppServer({ home, model });
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
  assert.equal(await isFine(client, 'one more line'), true);
  assert.equal(await isFine(client, 'delete all tests'), false);
});

test('a turn that fails is no review', async () => {
  const client = await clientOf('- error: usageLimitExceeded');
  await assert.rejects(isFine(client, 'rename'), /^Error: no review: /);
});
