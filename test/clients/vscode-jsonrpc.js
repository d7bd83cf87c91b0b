// A client of vscode-jsonrpc: handshake, turn, a command with an approval, resume in another process.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const load = createRequire(join(process.env.CLIENT_PACKAGES, 'package.json'));
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = load('vscode-jsonrpc/node');
const cwd = process.cwd();

async function connect() {
  const child = spawn(process.execPath, [process.env.HEDDLE, 'app-server', '--framing', 'content-length'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const exit = new Promise((resolve) => child.once('exit', resolve));
  const asked = [];
  connection.onRequest('item/commandExecution/requestApproval', (params) => {
    asked.push(params.command);
    return { decision: 'accept' };
  });
  connection.listen();
  const info = await connection.sendRequest('initialize', { clientInfo: { name: 'vscode-jsonrpc', version: '10.0.0' } });
  assert.equal(info.serverInfo.name, 'heddle');
  await connection.sendNotification('initialized');
  const close = () => {
    child.stdin.end();
    return exit;
  };
  return { connection, asked, close };
}

/** Returns the turn and its items once it has ended. */
async function turn(connection, threadId, text) {
  const items = [];
  const itemDone = connection.onNotification('item/completed', ({ item }) => items.push(item));
  const ended = new Promise((resolve) => connection.onNotification('turn/completed', resolve));
  await connection.sendRequest('turn/start', { threadId, input: [{ type: 'text', text }] });
  const { turn: done } = await ended;
  itemDone.dispose();
  assert.equal(done.status, 'completed');
  return items;
}

const texts = (items) => items.filter(({ type }) => type === 'agentMessage').map(({ text }) => text);

const first = await connect();
const { thread } = await first.connection.sendRequest('thread/start', { cwd, approvalPolicy: 'on-request', sandbox: 'workspace-write' });
assert.deepEqual(texts(await turn(first.connection, thread.id, 'say Good morning.')), ['Good morning.']);
const call = { cmd: 'echo done > made.txt', sandbox_permissions: 'require_escalated', justification: 'May it?' };
const items = await turn(first.connection, thread.id, `call exec_command ${JSON.stringify(call)}`);
assert.deepEqual(
  items.filter(({ type }) => type === 'commandExecution').map(({ status, exitCode }) => [status, exitCode]),
  [['completed', 0]],
);
assert.equal(first.asked.length, 1);
assert.equal(readFileSync('made.txt', 'utf8'), 'done\n');
assert.equal(await first.close(), 0);

const second = await connect();
const resumed = await second.connection.sendRequest('thread/resume', { threadId: thread.id });
assert.deepEqual(
  resumed.thread.turns.map(({ status }) => status),
  ['completed', 'completed'],
);
assert.deepEqual(texts(await turn(second.connection, thread.id, 'say Again.')), ['Again.']);
assert.equal(await second.close(), 0);
