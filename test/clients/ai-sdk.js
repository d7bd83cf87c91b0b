// The AI SDK with a provider for app-servers: a turn, a command, an interrupt, resume in another
// process. This provider answers no approvals, and does not pass on the usage.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { load, runPrompt, untilExists } from './scripted.js';

const { generateText, streamText } = load('ai');
const { createCodexAppServer } = load('ai-sdk-provider-codex-app-server');

function open(settings) {
  const sessions = [];
  const onSessionCreated = (session) => sessions.push(session);
  const own = {
    codexPath: process.env.CODEX,
    cwd: process.cwd(),
    logger: false,
    sandboxMode: 'workspace-write',
    approvalMode: 'on-request',
  };
  const provider = createCodexAppServer({
    defaultSettings: { ...own, threadMode: 'persistent', onSessionCreated, ...settings },
  });
  return { model: provider('scripted'), sessions };
}

/**
 * The provider does not wait for the end of its server, which the next one needs for the same
 * thread.
 */
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
const { text } = await generateText({
  model: first.model,
  prompt: `${runPrompt('echo done > made.txt')}\nsay Made.`,
});
assert.match(text, /Made\.$/);
assert.equal(readFileSync('made.txt', 'utf8'), 'done\n');
const interrupted = generateText({
  model: first.model,
  prompt: runPrompt('echo begun > begun.txt; sleep 100'),
});
await untilExists('begun.txt');
await first.sessions.at(-1).interrupt();
assert.equal((await interrupted).rawFinishReason, 'interrupted');
const { threadId } = first.sessions[0];
await close(first);

const second = open({ resume: threadId });
assert.equal((await generateText({ model: second.model, prompt: 'say Again.' })).text, 'Again.');
assert.equal(second.sessions[0].threadId, threadId);
await close(second);
