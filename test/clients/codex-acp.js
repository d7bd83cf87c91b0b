// codex-acp, which makes an app-server an agent of the Agent Client Protocol: turn, usage,
// approvals, a cancel, load in another process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { approvalPrompt, packageFile, runPrompt, untilExists } from './scripted.js';

const agent = packageFile('@agentclientprotocol', 'codex-acp', 'dist', 'index.js');
const cwd = process.cwd();

/**
 * Starts the adapter. `request` resolves with the result; `updates` has what the agent has told.
 */
async function connect() {
  const child = spawn(process.execPath, [agent], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, CODEX_PATH: process.env.CODEX },
  });
  const waiting = new Map();
  const updates = [];
  const asked = [];
  const send = (message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) {
      const { resolve, reject } = waiting.get(message.id);
      if (message.error === undefined) resolve(message.result);
      else reject(new Error(JSON.stringify(message.error)));
    } else if (message.id === undefined) {
      if (message.method === 'session/update') updates.push(message.params.update);
    } else if (message.method === 'session/request_permission') {
      asked.push(message.params);
      const wanted = JSON.stringify(message.params.toolCall).includes('yes.txt')
        ? 'allow_once'
        : 'reject_once';
      const { optionId } = message.params.options.find(({ kind }) => kind === wanted);
      send({ id: message.id, result: { outcome: { outcome: 'selected', optionId } } });
    } else send({ id: message.id, error: { code: -32_601, message: 'not supported' } });
  });
  let ids = 0;
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      ids += 1;
      waiting.set(ids, { resolve, reject });
      send({ id: ids, method, params });
    });
  await request('initialize', {
    protocolVersion: 1,
    clientCapabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  const close = () => {
    const exit = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.end();
    return exit;
  };
  const notify = (method, params) => send({ method, params });
  return { request, notify, updates, asked, close };
}

const said = (updates) =>
  updates
    .map(({ sessionUpdate, content }) =>
      sessionUpdate === 'agent_message_chunk' ? content.text : '',
    )
    .join('');

async function prompt({ request, updates }, sessionId, text) {
  const start = updates.length;
  const { stopReason } = await request('session/prompt', {
    sessionId,
    prompt: [{ type: 'text', text }],
  });
  assert.equal(stopReason, 'end_turn');
  return updates.slice(start);
}

const first = await connect();
const { sessionId } = await first.request('session/new', { cwd, mcpServers: [] });
// By default, it lets the guardian review.
await first.request('session/set_mode', { sessionId, modeId: 'workspace-write' });
assert.match(said(await prompt(first, sessionId, 'say Good morning.')), /Good morning\./);

/** The last state that the user sees of the call. */
const stateOf = (updates) =>
  updates.filter(({ toolCallId }) => toolCallId !== undefined).at(-1)?.status;
const accepted = await prompt(first, sessionId, approvalPrompt('echo done > yes.txt'));
assert.equal(stateOf(accepted), 'completed');
assert.equal(readFileSync('yes.txt', 'utf8'), 'done\n');
assert.ok(accepted.find(({ sessionUpdate }) => sessionUpdate === 'usage_update').used > 0);
assert.equal(
  stateOf(await prompt(first, sessionId, approvalPrompt('echo done > no.txt'))),
  'failed',
);
assert.equal(existsSync('no.txt'), false);
assert.equal(first.asked.length, 2);
const waiting = first.request('session/prompt', {
  sessionId,
  prompt: [{ type: 'text', text: runPrompt('echo begun > begun.txt; sleep 100') }],
});
await untilExists('begun.txt');
first.notify('session/cancel', { sessionId });
assert.equal((await waiting).stopReason, 'cancelled');
await first.close();

const second = await connect();
await second.request('session/load', { sessionId, cwd, mcpServers: [] });
assert.match(said(second.updates), /Good morning\./);
assert.match(said(await prompt(second, sessionId, 'say Again.')), /Again\./);
await second.close();
