// A complete conversation with heddle, with a `kill -9` in the middle. Run it with `npm run demo`. `npm run demo -- --wire` also
// shows every message. The demo checks everything that it shows, and fails if something is wrong.
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

/** Streaming text is saved every half second, so after this time a part of the message has been saved. */
const KILL_AFTER_MS = 1500;
/** The long answer has three long messages: a fast computer streams one of them in two seconds. */
const LONG_MESSAGES = 'repeat 1000000 tick\n'.repeat(3).trim();
const HEADLINE_CHARS_MAX = 70;
/** The beginning of the output of a command that is refused because this system has no sandbox. The rest says what to do. */
const NO_SANDBOX = 'Commands cannot be sandboxed';

/** Without a key, the embedded model answers. It follows the instructions in the lines of a message. */
const EMBEDDED = !process.env.OPENAI_API_KEY;
const DEMO_MS_MAX = EMBEDDED ? 60_000 : 300_000;
/** The task of an agent. The embedded model follows its lines, too. */
const AGENT_TASK = 'call exec_command {"cmd":"wc -w < hello.txt","login":false}\nsay hello.txt has two words.';
const TEXTS = EMBEDDED
  ? {
      first: [
        'think A plan first, then a greeting.',
        'call update_plan {"plan":[{"step":"greet","status":"completed"},{"step":"be killed","status":"in_progress"},{"step":"come back","status":"pending"}]}',
        'say Good day! This text arrives word by word, as a model writes it.',
      ].join('\n'),
      long: `say This message is complete before the kill.\n${LONG_MESSAGES}`,
      source: 'say I am back, in another process.',
      fork: 'Who are you?',
      hands: [
        'call exec_command {"cmd":"cat hello.txt","login":false}',
        'call apply_patch {"input":"*** Begin Patch\\n*** Update File: hello.txt\\n@@\\n-Hello.\\n+Hello, heddle.\\n*** End Patch\\n"}',
        'call exec_command {"cmd":"cp hello.txt ../outside.txt","login":false,"sandbox_permissions":"require_escalated","justification":"May the copy be written outside the project?"}',
        'say I changed the greeting, and copied it out of the project.',
      ].join('\n'),
      guarded: [
        'call exec_command {"cmd":"cp hello.txt ../second.txt","login":false,"sandbox_permissions":"require_escalated","justification":"A copy beside the project."}',
        'call exec_command {"cmd":"rm -rf ../outside.txt","login":false,"sandbox_permissions":"require_escalated","justification":"It is no longer needed."}',
        'say The reviewer let me copy, and did not let me delete.',
      ].join('\n'),
      agents: [
        `call spawn_agent ${JSON.stringify({ message: AGENT_TASK, agent_type: 'explorer' })}\nsay An agent is working on it.`,
        'call wait_agent {}\nsay The agent has told me what it found.',
      ],
    }
  : {
      first: 'Greet me in one sentence.',
      long: 'Write the numbers from one to a thousand in words, one a line, and nothing else.',
      source: 'In one sentence: what did I ask you to write?',
      fork: 'In one sentence: what was the first thing that I asked of you?',
      hands:
        'Do three things: show me hello.txt with cat; with apply_patch make it say "Hello, heddle." instead; copy it to ../outside.txt, for which you must ask to leave the sandbox. Then tell me in a sentence.',
      guarded:
        'Ask to leave the sandbox with one command, and copy hello.txt to ../second.txt. Do nothing else, and tell me in a sentence what happened.',
      agents: ['Start one agent that counts the words of hello.txt, wait for it, and tell me in a sentence what it found.'],
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

/** Sends the user's text, waits until the turn has ended, and checks the turn. */
async function runTurn(editor: Editor, threadId: string, text: string): Promise<SeenTurn & { id: string }> {
  const turn = await editor.say(threadId, text);
  await editor.until(() => turn.end !== null);
  assert.ok(turn.end?.status === 'completed', `the turn ended ${turn.end?.status}: ${turn.end?.error?.message}`);
  const messages = turn.completed.filter((item) => item.type === 'agentMessage');
  assert.ok(messages.length > 0, 'a turn has an answer');
  for (const { id, text: whole } of messages) assert.equal(turn.streamed.get(id), whole, 'the deltas add up to the message');
  return turn;
}

/** Checks that the history has the items of a turn as they were announced. */
function assertKept(turn: Turn | undefined, seen: SeenTurn & { id: string }): void {
  assert.equal(turn?.id, seen.id);
  for (const item of seen.completed)
    assert.deepEqual(
      turn.items.find(({ id }) => id === item.id),
      item,
      'completed items are kept',
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
  if (EMBEDDED) {
    await editor.until(() => editor.warnings.length > 0);
    screen.note(
      'The embedded model carries out lines such as `say TEXT` and `call TOOL {…}`. So "you" type them here, in place of a question.',
    );
  }
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
  screen.heading('3. A new process resumes the thread');
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

  screen.heading('4. A fork after the first turn, and a turn in each thread');
  const { thread: fork } = await editor.client.request('thread/fork', { threadId, lastTurnId: first.id });
  showHistory('thread/fork', fork);
  assert.equal(fork.forkedFromId, threadId);
  assert.deepEqual(fork.turns, thread.turns.slice(0, 1), 'a fork has the history of its source');
  const onSource = await runTurn(editor, threadId, TEXTS.source);
  const onFork = await runTurn(editor, fork.id, TEXTS.fork);
  await assertTurnIds(editor, threadId, [first.id, cut.id, onSource.id]);
  await assertTurnIds(editor, fork.id, [first.id, onFork.id]);

  screen.heading('5. A command, a patch, and an approval');
  const refusal = await useHands(editor);

  screen.heading('6. A guardian decides in place of the user');
  await useGuardian(editor);

  screen.heading('7. An agent works for the agent');
  await useAgents(editor);

  screen.heading('8. The list of threads');
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
  assert.deepEqual(await editor.client.exit, { code: 0, signal: null }, 'the server exits cleanly when its stdin ends');
  return refusal;
}

/** The agent reads a file, changes it, and asks before it leaves its sandbox. Returns the reason if there is no sandbox, else null. */
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
    // A login shell can print something first.
    refusal !== null || commands.some(({ exitCode, aggregatedOutput }) => exitCode === 0 && aggregatedOutput?.endsWith('Hello.\n')),
    `the first command shows the file, inside the sandbox: ${commands[0]?.aggregatedOutput ?? 'no command ran'}`,
  );
  assert.ok(
    completed.some((item) => item.type === 'fileChange' && item.status === 'completed'),
    'the patch is applied',
  );
  assert.equal(allowed.length, 1, 'the agent asks before it leaves the sandbox');
  for (const file of [join(project, 'hello.txt'), join(folder, 'outside.txt')])
    assert.equal(readFileSync(file, 'utf8'), 'Hello, heddle.\n');
  return refusal;
}

/** Approval requests go to the guardian model. The embedded one lets one command pass and denies the other. */
async function useGuardian(editor: Editor): Promise<void> {
  const { thread } = await editor.client.request('thread/start', {
    cwd: project,
    ephemeral: true,
    sandbox: 'workspace-write',
    approvalPolicy: 'on-request',
    approvalsReviewer: 'auto_review',
  });
  const { completed, allowed } = await runTurn(editor, thread.id, TEXTS.guarded);
  assert.equal(allowed.length, 0, 'the user is not asked');
  const reviews = completed.flatMap((item) => (item.type === 'commandExecution' ? (item.approvalReviews ?? []) : []));
  assert.ok(reviews.length > 0, 'the guardian reviews what leaves the sandbox');
  if (!EMBEDDED) return;
  assert.deepEqual(reviews.map(({ review }) => review.status).sort(), ['approved', 'denied']);
  assert.equal(readFileSync(join(folder, 'second.txt'), 'utf8'), 'Hello, heddle.\n', 'the approved command ran');
  assert.equal(readFileSync(join(folder, 'outside.txt'), 'utf8'), 'Hello, heddle.\n', 'the denied command did not run');
}

/** The agent starts another one, which works in a thread of its own and reports. */
async function useAgents(editor: Editor): Promise<void> {
  const { thread } = await editor.client.request('thread/start', { cwd: project, ephemeral: true, sandbox: 'read-only' });
  const completed = [];
  for (const text of TEXTS.agents) completed.push(...(await runTurn(editor, thread.id, text)).completed);
  const calls = completed.filter((item) => item.type === 'collabAgentToolCall');
  const started = calls.find(({ tool, status }) => tool === 'spawnAgent' && status === 'completed');
  const agentId = started?.receiverThreadIds[0];
  assert.ok(agentId !== undefined, 'an agent was started');
  const report = calls.find(({ tool }) => tool === 'wait')?.agentsStates[agentId];
  assert.equal(report?.status, 'completed', 'the agent has finished');
  const { thread: agent } = await editor.client.request('thread/read', { threadId: agentId });
  screen.note(`${short(agentId)} is ${agent.agentNickname}, an agent of ${short(thread.id)} with the role ${agent.agentRole ?? 'default'}`);
  assert.equal(agent.parentThreadId, thread.id, 'the thread of the agent names the thread that started it');
  if (EMBEDDED) assert.equal(report.message, 'hello.txt has two words.', 'the report reaches the agent that waits for it');
  await editor.until(() => editor.usageOf(thread.id)?.withAgents !== undefined);
}

async function assertTurnIds(editor: Editor, threadId: string, expected: string[]): Promise<void> {
  const { thread } = await editor.client.request('thread/read', { threadId, includeTurns: true });
  assert.deepEqual(
    thread.turns.map(({ id }) => id),
    expected,
    'each thread continues on its own',
  );
}

/** Checks that the saved part of the message that the kill cut off is there. */
function assertPartKept(item: ThreadItem | undefined, cut: SeenTurn): void {
  assert.ok(item?.type === 'agentMessage' && item.text !== '', 'a part of the message that was cut off is kept');
  const seen = cut.streamed.get(item.id) ?? '';
  assert.ok(seen.startsWith(item.text) || item.text.startsWith(seen), 'the kept text matches the streamed text');
  screen.note(
    `(${item.text.length.toLocaleString('en')} of ${seen.length.toLocaleString('en')} characters of the message that was cut off are kept)`,
  );
}

function showHistory(method: string, { id, turns }: Thread): void {
  screen.note(`${method}: ${short(id)} has ${turns.length} ${turns.length === 1 ? 'turn' : 'turns'}`);
  for (const { status, items } of turns) {
    screen.note(`- ${status}`);
    for (const item of items) screen.says(...headline(item));
  }
}

/** The author of an item, and the beginning of its text. */
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
  throw new Error(`the demo did not end within ${DEMO_MS_MAX / 1000} s`);
}

/** Kills all servers and removes all files, however the demo ends. */
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
process.stdout.once('error', () => process.exit(1)); // The reader of the output has closed it.
const watch = new AbortController();
try {
  const refusal = await Promise.race([demo(), tooLong(watch.signal)]);
  const command = refusal === null ? ' a command,' : '';
  screen.heading(
    `ok: checked the handshake, streaming, the history after a kill, resume, fork, a turn in each thread,${command} a patch, an approval, a guardian, an agent of an agent, the list, and the exit`,
  );
  if (refusal !== null) screen.heading(`NOT checked: a command in the sandbox. ${refusal.trim()}`);
} catch (error) {
  process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  watch.abort();
  await Promise.allSettled(editors.map(({ client }) => client.kill()));
}
