// The AI SDK with a provider for app-servers: a turn, a command, resume in another process. This provider answers no approvals.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const load = createRequire(join(process.env.CLIENT_PACKAGES, 'package.json'));
const { generateText, streamText } = load('ai');
const { createCodexAppServer } = load('ai-sdk-provider-codex-app-server');

function open(settings) {
  const sessions = [];
  const onSessionCreated = (session) => sessions.push(session);
  const own = {
    codexPath: process.env.HEDDLE,
    cwd: process.cwd(),
    logger: false,
    sandboxMode: 'workspace-write',
    approvalMode: 'on-request',
  };
  const provider = createCodexAppServer({ defaultSettings: { ...own, threadMode: 'persistent', onSessionCreated, ...settings } });
  return { model: provider('scripted'), sessions };
}

/** The provider does not wait for the end of its server, which the next one needs for the same thread. */
async function close({ model }) {
  const exit = once(model.client.process, 'exit');
  model.dispose();
  await exit;
}

const first = open({});
const parts = [];
const streamed = streamText({ model: first.model, prompt: 'say Good morning.' });
for await (const part of streamed.textStream) parts.push(part);
assert.equal(parts.join(''), 'Good morning.');
assert.ok(parts.length > 1);
const call = { cmd: 'echo done > made.txt' };
const { text } = await generateText({ model: first.model, prompt: `call exec_command ${JSON.stringify(call)}\nsay Made.` });
assert.match(text, /Made\.$/);
assert.equal(readFileSync('made.txt', 'utf8'), 'done\n');
const { threadId } = first.sessions[0];
await close(first);

const second = open({ resume: threadId });
assert.equal((await generateText({ model: second.model, prompt: 'say Again.' })).text, 'Again.');
assert.equal(second.sessions[0].threadId, threadId);
await close(second);
