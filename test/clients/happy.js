// happy's module for app-servers, which its command line uses: turns, approvals, interrupt, goals,
// fork, resume in another process.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { approvalPrompt, importFile, packageFile } from './scripted.js';

/** The module has no name of its own in the bundle. */
async function findClient() {
  const files = readdirSync(packageFile('happy', 'dist')).filter((file) =>
    /^types-.*\.mjs$/.test(file),
  );
  const modules = await Promise.all(files.map((file) => importFile('happy', 'dist', file)));
  return modules
    .flatMap((module) => Object.values(module))
    .find((value) => value?.name === 'CodexAppServerClient');
}

const Client = await findClient();
const settings = { cwd: process.cwd(), approvalPolicy: 'on-request', sandbox: 'workspace-write' };

async function connect(decide = () => 'denied') {
  const client = new Client();
  const events = [];
  const asked = [];
  let onStarted;
  client.setEventHandler((event) => {
    events.push(event);
    if (event.type === 'task_started') onStarted?.();
  });
  client.setApprovalHandler(async (params) => {
    asked.push(params);
    return decide(params);
  });
  await client.connect();
  /** Returns the events of a turn. */
  const turn = async (prompt, options) => {
    const start = events.length;
    assert.deepEqual(await client.sendTurnAndWait(prompt, options), { aborted: false });
    return events.slice(start);
  };
  const started = () => new Promise((resolve) => (onStarted = resolve));
  return { client, asked, turn, started };
}

const messages = (events) =>
  events.filter(({ type }) => type === 'agent_message').map(({ message }) => message);
const ends = (events) =>
  events
    .filter(({ type }) => type === 'exec_command_end')
    .map(({ status, exit_code }) => [status, exit_code]);

const first = await connect(({ command }) =>
  String(command).includes('yes.txt') ? 'approved' : 'denied',
);
assert.equal(first.client.supportsGoalActions(), true);
const { threadId } = await first.client.startThread(settings);
const greeting = await first.turn('say Good morning.');
assert.deepEqual(messages(greeting), ['Good morning.']);
assert.ok(greeting.find(({ type }) => type === 'token_count').last.totalTokens > 0);

assert.deepEqual(ends(await first.turn(approvalPrompt('echo done > yes.txt'))), [['completed', 0]]);
assert.equal(readFileSync('yes.txt', 'utf8'), 'done\n');
assert.deepEqual(ends(await first.turn(approvalPrompt('echo done > no.txt'))), [
  ['declined', null],
]);
assert.equal(existsSync('no.txt'), false);
const patch = '*** Begin Patch\n*** Add File: patched.txt\n+done\n*** End Patch';
await first.turn(`call apply_patch ${JSON.stringify({ input: patch })}`, { sandbox: 'read-only' });
assert.equal(existsSync('patched.txt'), false);
assert.deepEqual(
  first.asked.map(({ type }) => type),
  ['exec', 'exec', 'patch'],
);
assert.deepEqual(
  Object.keys(first.asked[2].fileChanges).map((path) => path.endsWith('patched.txt')),
  [true],
);

const started = first.started();
const waiting = first.client.sendTurnAndWait('wait 100000');
await started;
const stopped = await first.client.abortTurnWithFallback({ gracePeriodMs: 20_000 });
assert.deepEqual(stopped, {
  hadActiveTurn: true,
  aborted: true,
  forcedRestart: false,
  resumedThread: false,
});
// happy takes the idle status, which comes before the interrupted turn, for the end of a completed
// one.
await waiting;

const { goal } = await first.client.setGoal({ threadId, objective: 'rest', status: 'paused' });
assert.equal(goal.objective, 'rest');
assert.deepEqual(await first.client.clearGoal({ threadId }), { cleared: true });
const forked = await first.client.forkThread({ threadId });
assert.equal(forked.thread.turns.length, 5);
await first.client.rollbackThread({ threadId: forked.threadId, numTurns: 4 });
const content = [{ type: 'input_text', text: 'Hello.' }];
await first.client.injectItems({
  threadId: forked.threadId,
  items: [{ type: 'message', role: 'user', content }],
});
assert.deepEqual(messages(await first.turn('say Forked.')), ['Forked.']);
await first.client.disconnect();

const second = await connect();
await second.client.resumeThread({ ...settings, threadId });
const { thread } = await second.client.readThread({ threadId });
assert.deepEqual(
  thread.turns.map(({ status }) => status),
  ['completed', 'completed', 'completed', 'completed', 'interrupted'],
);
assert.deepEqual(messages(await second.turn('say Again.')), ['Again.']);
await second.client.disconnect();
