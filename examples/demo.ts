// A conversation with heddle from end to end, with a `kill -9` in the middle. Run it with `npm run demo`; `npm run demo --
// --wire` shows every message too. It checks what it shows, and fails where something is not as it should be.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Thread, ThreadItem, Turn } from 'heddle/client';
import { Editor, type SeenTurn } from './editor.ts';
import { Screen } from './screen.ts';

/** Text still streaming is saved every half second: this long into a message, there is something to find again. */
const KILL_AFTER_MS = 2000;
const HEADLINE_CHARS_MAX = 70;
/** How a refusal begins where this system has no sandbox. It goes on with what to do. */
const NO_SANDBOX = 'Commands cannot be sandboxed';

/** Without a key the embedded model answers, and does what the lines of a message ask for. */
const EMBEDDED = !process.env.OPENAI_API_KEY;
const DEMO_MS_MAX = EMBEDDED ? 60_000 : 300_000;
const TEXTS = EMBEDDED
  ? {
      first: [
        'think A plan first, then a greeting.',
        'call update_plan {"plan":[{"step":"greet","status":"completed"},{"step":"be killed","status":"in_progress"},{"step":"come back","status":"pending"}]}',
        'say Good day! This text comes word by word, as a model writes it.',
      ].join('\n'),
      long: 'say This message is whole before the kill.\nrepeat 1000000 tick',
      source: 'say Here I am again, in another process.',
      fork: 'Who are you?',
      hands: [
        'call exec_command {"cmd":"cat hello.txt","login":false}',
        'call apply_patch {"input":"*** Begin Patch\\n*** Update File: hello.txt\\n@@\\n-Hello.\\n+Hello, heddle.\\n*** End Patch\\n"}',
        'call exec_command {"cmd":"cp hello.txt ../outside.txt","login":false,"sandbox_permissions":"require_escalated","justification":"The copy belongs outside the project. May it leave the sandbox?"}',
        'say The greeting is changed, and its copy lies outside.',
      ].join('\n'),
    }
  : {
      first: 'Greet me in one sentence.',
      long: 'Write the numbers from one to a thousand in words, one a line, and nothing else.',
      source: 'In one sentence: what did I ask you to write?',
      fork: 'In one sentence: what was the first thing that I asked of you?',
      hands:
        'Do three things: show me hello.txt with cat; with apply_patch make it say "Hello, heddle." instead; copy it to ../outside.txt, for which you must ask to leave the sandbox. Then tell me in a sentence.',
    };

const { values: flags } = parseArgs({ options: { wire: { type: 'boolean', default: false } } });
const { isTTY = false, columns } = process.stdout;
const screen = new Screen(process.stdout, { wire: flags.wire, colours: isTTY && process.env.NO_COLOR === undefined, columns });
const folder = mkdtempSync(join(realpathSync(tmpdir()), 'heddle-demo-'));
const project = join(folder, 'project');
const editors: Editor[] = [];

function startServer(): Editor {
  const editor = new Editor({ home: join(folder, 'home'), cwd: project, screen });
  editors.push(editor);
  return editor;
}

function makeProject(): { sha: string } {
  mkdirSync(project);
  writeFileSync(join(project, 'hello.txt'), 'Hello.\n');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, encoding: 'utf8' }).trim();
  const author = ['-c', 'user.name=demo', '-c', 'user.email=demo@localhost', '-c', 'commit.gpgsign=false'];
  git('init', '--quiet');
  git('symbolic-ref', 'HEAD', 'refs/heads/main');
  git('add', '.');
  git(...author, 'commit', '--quiet', '--message', 'A file');
  return { sha: git('rev-parse', 'HEAD') };
}

/** A turn from the user's text to its end, checked. */
async function runTurn(editor: Editor, threadId: string, text: string): Promise<SeenTurn & { id: string }> {
  const turn = await editor.say(threadId, text);
  await editor.until(() => turn.end !== null);
  assert.ok(turn.end?.status === 'completed', `the turn ended ${turn.end?.status}: ${turn.end?.error?.message}`);
  const messages = turn.completed.filter((item) => item.type === 'agentMessage');
  assert.ok(messages.length > 0, 'a turn has an answer');
  for (const { id, text: whole } of messages) assert.equal(turn.streamed.get(id), whole, 'the deltas make the message');
  return turn;
}

/** History says of a turn what its clients were told. */
function assertKept(turn: Turn | undefined, seen: SeenTurn & { id: string }): void {
  assert.equal(turn?.id, seen.id);
  for (const item of seen.completed)
    assert.deepEqual(
      turn.items.find(({ id }) => id === item.id),
      item,
      'what was completed is kept',
    );
}

async function firstProcess(sha: string) {
  screen.heading('1. A server, a thread, a turn');
  const editor = startServer();
  const { serverInfo, protocolVersion, userAgent, capabilities } = await editor.shakeHands();
  const methods = Object.values(capabilities.methods).flat().length;
  screen.note(`initialize: ${serverInfo.name} ${serverInfo.version}, protocol ${protocolVersion}, ${methods} methods`);
  assert.equal(serverInfo.name, 'heddle');
  assert.ok(userAgent.startsWith(`heddle-demo/${protocolVersion} `));

  const { thread, approvalPolicy, sandbox } = await editor.client.request('thread/start', { cwd: project });
  screen.note(
    `thread/start: ${short(thread.id)}, model ${thread.model}, branch ${thread.gitInfo?.branch}, approvals ${JSON.stringify(approvalPolicy)}, sandbox ${sandbox.type}`,
  );
  assert.deepEqual(thread.gitInfo, { sha, branch: 'main', originUrl: null });
  await editor.until(() => editor.startedThreads.includes(thread.id));
  if (EMBEDDED) await editor.until(() => editor.warnings.length > 0);
  const first = await runTurn(editor, thread.id, TEXTS.first);

  screen.heading('2. A turn, and `kill -9` in the middle of it');
  const cut = await editor.say(thread.id, TEXTS.long);
  await editor.until(() => cut.deltas > 0);
  await sleep(KILL_AFTER_MS);
  assert.equal(cut.end, null, 'the long turn was over before it could be killed');
  assert.equal((await editor.client.kill()).signal, 'SIGKILL');
  screen.note(`(killed after ${cut.deltas.toLocaleString('en')} deltas)`);
  return { threadId: thread.id, first, cut };
}

async function secondProcess({ threadId, first, cut }: Awaited<ReturnType<typeof firstProcess>>) {
  screen.heading('3. A new process takes the thread up again');
  const editor = startServer();
  await editor.shakeHands();
  const { thread } = await editor.client.request('thread/resume', { threadId });
  showHistory('thread/resume', thread);
  assert.deepEqual(
    thread.turns.map(({ status }) => status),
    ['completed', 'interrupted'],
  );
  assertKept(thread.turns[0], first);
  assertKept(thread.turns[1], cut);
  assertPartKept(thread.turns[1]?.items.at(-1), cut);

  screen.heading('4. A fork at the first turn, and a turn on each');
  const { thread: fork } = await editor.client.request('thread/fork', { threadId, lastTurnId: first.id });
  showHistory('thread/fork', fork);
  assert.equal(fork.forkedFromId, threadId);
  assert.deepEqual(fork.turns, thread.turns.slice(0, 1), 'a fork has the history that it was made from');
  const onSource = await runTurn(editor, threadId, TEXTS.source);
  const onFork = await runTurn(editor, fork.id, TEXTS.fork);
  await assertTurnIds(editor, threadId, [first.id, cut.id, onSource.id]);
  await assertTurnIds(editor, fork.id, [first.id, onFork.id]);

  screen.heading('5. A command, a patch, and an approval');
  const refusal = await useHands(editor);

  screen.heading('6. What there is now');
  const { data } = await editor.client.request('thread/list', {});
  screen.note(`thread/list: ${data.length} threads, the newest first`);
  for (const { id, status, forkedFromId, preview } of data) {
    const origin = forkedFromId === null ? '' : `, forked from ${short(forkedFromId)}`;
    screen.note(`${short(id)} ${status.type}${origin}: ${start(preview)}`);
  }
  assert.deepEqual(
    data.map(({ id, status }) => [id, status.type]),
    [
      [fork.id, 'idle'],
      [threadId, 'idle'],
    ],
  );
  await editor.client.close();
  assert.deepEqual(await editor.client.exit, { code: 0, signal: null }, 'the server exits in good order when its stdin ends');
  return refusal;
}

/** The agent reads a file, changes it, and asks before it leaves its sandbox. Gives why there is no sandbox, where there is none. */
async function useHands(editor: Editor): Promise<string | null> {
  const { thread } = await editor.client.request('thread/start', {
    cwd: project,
    ephemeral: true,
    sandbox: 'workspace-write',
    approvalPolicy: 'on-request',
  });
  const { completed, allowed } = await runTurn(editor, thread.id, TEXTS.hands);
  const commands = completed.filter((item) => item.type === 'commandExecution');
  const refusal = commands.find(({ aggregatedOutput }) => aggregatedOutput?.startsWith(NO_SANDBOX))?.aggregatedOutput ?? null;
  assert.ok(
    // A login shell may have said something first.
    refusal !== null || commands.some(({ exitCode, aggregatedOutput }) => exitCode === 0 && aggregatedOutput?.endsWith('Hello.\n')),
    `the first command shows the file, inside the sandbox: ${commands[0]?.aggregatedOutput ?? 'none was run'}`,
  );
  assert.ok(
    completed.some((item) => item.type === 'fileChange' && item.status === 'completed'),
    'the patch is applied',
  );
  assert.equal(allowed.length, 1, 'leaving the sandbox is asked about');
  for (const file of [join(project, 'hello.txt'), join(folder, 'outside.txt')])
    assert.equal(readFileSync(file, 'utf8'), 'Hello, heddle.\n');
  return refusal;
}

async function assertTurnIds(editor: Editor, threadId: string, expected: string[]): Promise<void> {
  const { thread } = await editor.client.request('thread/read', { threadId, includeTurns: true });
  assert.deepEqual(
    thread.turns.map(({ id }) => id),
    expected,
    'each thread goes on by itself',
  );
}

/** The message that the kill cut off is there as far as it was saved. */
function assertPartKept(item: ThreadItem | undefined, cut: SeenTurn): void {
  assert.ok(item?.type === 'agentMessage' && item.text !== '', 'the text of the message that was cut off is kept');
  const seen = cut.streamed.get(item.id) ?? '';
  assert.ok(seen.startsWith(item.text) || item.text.startsWith(seen), 'what is kept is what was streamed');
  screen.note(
    `(of the message that was cut off, ${item.text.length.toLocaleString('en')} of ${seen.length.toLocaleString('en')} characters)`,
  );
}

function showHistory(method: string, { id, turns }: Thread): void {
  screen.note(`${method}: ${short(id)} has ${turns.length} ${turns.length === 1 ? 'turn' : 'turns'}`);
  for (const { status, items } of turns) {
    screen.note(`- ${status}`);
    for (const item of items) screen.says(...headline(item));
  }
}

/** Who, and the beginning of what. */
function headline(item: ThreadItem): [who: string, text: string] {
  switch (item.type) {
    case 'userMessage':
      return ['you', start(item.content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '))];
    case 'agentMessage':
      return ['agent', start(item.text)];
    case 'reasoning':
      return ['thinks', start((item.summary ?? []).join(' '))];
    default:
      return ['', item.type];
  }
}

function start(text: string): string {
  const line = text.replaceAll('\n', ' / ');
  return line.length > HEADLINE_CHARS_MAX ? `${line.slice(0, HEADLINE_CHARS_MAX)}…` : line;
}

function short(id: string): string {
  return `…${id.slice(-4)}`;
}

async function tooLong(signal: AbortSignal): Promise<never> {
  await sleep(DEMO_MS_MAX, undefined, { signal });
  throw new Error(`not done after ${DEMO_MS_MAX / 1000} s`);
}

/** However it ends, nothing is left behind. */
function cleanUp(): void {
  for (const { client } of editors) void client.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function demo(): Promise<string | null> {
  const { sha } = makeProject();
  return await secondProcess(await firstProcess(sha));
}

process.on('exit', cleanUp);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
process.stdout.once('error', () => process.exit(1)); // Whoever reads this has had enough.
const watch = new AbortController();
try {
  const refusal = await Promise.race([demo(), tooLong(watch.signal)]);
  const command = refusal === null ? ' a command,' : '';
  screen.heading(
    `ok: checked the handshake, streaming, what a kill leaves, resume, fork, a turn on each,${command} a patch, an approval, the list, and the exit`,
  );
  if (refusal !== null) screen.heading(`NOT checked: a command in the sandbox. ${refusal.trim()}`);
} catch (error) {
  process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  watch.abort();
  await Promise.allSettled(editors.map(({ client }) => client.kill()));
}
