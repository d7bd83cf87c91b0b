// A test of code that talks to an agent: the server runs in the test's own process, and its model answers by a script.
// Run it with `node --import tsx --test scripted-test.ts`.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type AppServer, createAppServer, createScriptedModel, type ScriptedModel } from 'heddle';
import type { Client } from 'heddle/client';

/** What is tested: asks the agent whether a change is fine, and takes no other word than `yes` for a yes. */
async function isFine(client: Client, diff: string): Promise<boolean> {
  const { thread } = await client.request('thread/start', { ephemeral: true });
  const { turn, text } = await client.turn({ threadId: thread.id, input: `Is this change fine? Answer yes or no.\n${diff}` }).result;
  if (turn.status !== 'completed') throw new Error(`no review: ${turn.error?.message}`);
  return text.trim().toLowerCase() === 'yes';
}

/** What the model is asked, and what it answers. */
const SCRIPT = `
- match: { user: one more line }
  reply: Yes
- match: { user: delete all tests }
  reply: "No, never."
- match: { user: rename }
  reply:
    - error: usageLimitExceeded
`;

let home: string;
let model: ScriptedModel;
let server: AppServer;
let client: Client;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'scripted-test-'));
  model = createScriptedModel(SCRIPT);
  server = createAppServer({ home, model });
  client = server.connectClient();
  await client.initialize({ clientInfo: { name: 'scripted-test', version: '1.0.0' } });
});

afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true });
});

test('only a yes is a yes', async () => {
  assert.equal(await isFine(client, 'one more line'), true);
  assert.equal(await isFine(client, 'delete all tests'), false);
});

test('a turn that fails is no review', async () => {
  await assert.rejects(isFine(client, 'rename'), /^Error: no review: /);
});
