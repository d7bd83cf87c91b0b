// A client of vscode-jsonrpc: handshake, turn, usage, approvals, an interrupt, resume in another
// process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { approvalPrompt, load } from './scripted.js';

const { createMessageConnection, StreamMessageReader, StreamMessageWriter } =
  load('vscode-jsonrpc/node');
const cwd = process.cwd();

async function connect() {
  const child = spawn(process.env.CODEX, ['app-server', '--framing', 'content-length'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const asked = [];
  connection.onRequest('item/commandExecution/requestApproval', (params) => {
    asked.push(params.command);
    return { decision: params.command.includes('yes.txt') ? 'accept' : 'decline' };
  });
  connection.listen();
  const info = await connection.sendRequest('initialize', {
    clientInfo: { name: 'vscode-jsonrpc', version: '10.0.0' },
  });
  assert.equal(info.serverInfo.name, 'heddle');
  await connection.sendNotification('initialized');
  const close = () => {
    child.stdin.end();
    return exit;
  };
  return { connection, asked, close };
}

/** Returns the items of a turn once it has ended. */
async function turn(connection, threadId, text, expected = 'completed') {
  const items = [];
  const itemDone = connection.onNotification('item/completed', ({ item }) => items.push(item));
  const ended = new Promise((resolve) => connection.onNotification('turn/completed', resolve));
  await connection.sendRequest('turn/start', { threadId, input: [{ type: 'text', text }] });
  const { turn: done } = await ended;
  itemDone.dispose();
  assert.equal(done.status, expected);
  return items;
}

const texts = (items) =>
  items.filter(({ type }) => type === 'agentMessage').map(({ text }) => text);

const first = await connect();
const { thread } = await first.connection.sendRequest('thread/start', {
  cwd,
  approvalPolicy: 'on-request',
  sandbox: 'workspace-write',
});
assert.deepEqual(texts(await turn(first.connection, thread.id, 'say Good morning.')), [
  'Good morning.',
]);
const commands = (items) =>
  items
    .filter(({ type }) => type === 'commandExecution')
    .map(({ status, exitCode }) => [status, exitCode]);
const usage = new Promise((resolve) =>
  first.connection.onNotification('thread/tokenUsage/updated', resolve),
);
assert.deepEqual(
  commands(await turn(first.connection, thread.id, approvalPrompt('echo done > yes.txt'))),
  [['completed', 0]],
);
assert.equal(readFileSync('yes.txt', 'utf8'), 'done\n');
assert.ok((await usage).tokenUsage.total.totalTokens > 0);
assert.deepEqual(
  commands(await turn(first.connection, thread.id, approvalPrompt('echo done > no.txt'))),
  [['declined', null]],
);
assert.equal(existsSync('no.txt'), false);
assert.equal(first.asked.length, 2);
const started = new Promise((resolve) => first.connection.onNotification('turn/started', resolve));
const interrupted = turn(first.connection, thread.id, 'wait 100000', 'interrupted');
await first.connection.sendRequest('turn/interrupt', {
  threadId: thread.id,
  turnId: (await started).turn.id,
});
await interrupted;
assert.equal(await first.close(), 0);

const second = await connect();
const resumed = await second.connection.sendRequest('thread/resume', { threadId: thread.id });
assert.deepEqual(
  resumed.thread.turns.map(({ status }) => status),
  ['completed', 'completed', 'completed', 'interrupted'],
);
assert.deepEqual(texts(await turn(second.connection, thread.id, 'say Again.')), ['Again.']);
assert.equal(await second.close(), 0);
