// Tests of code that talks to an agent: the server runs in the tests' own process, and its model answers by a script.
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

/** What is tested: asks the agent whether a change is fine, and takes no other word than `yes` for a yes. */
async function isFine(client: Client, diff: string): Promise<boolean> {
  const { thread } = await client.request('thread/start', { ephemeral: true });
  const { turn, text } = await client.turn({ threadId: thread.id, input: `Is this change fine? Answer yes or no.\n${diff}` }).result;
  if (turn.status !== 'completed') throw new Error(`no review: ${turn.error?.message}`);
  return text.trim().toLowerCase() === 'yes';
}

let home: string;
let model: ScriptedModel | undefined;
let server: AppServer | undefined;

/** A client of a server whose model answers by this script. */
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
  // A request that nothing in the script was for, or a response that nothing asked for, fails the test.
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
