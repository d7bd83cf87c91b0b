import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Notification, Thread, ThreadItem, Turn } from 'heddle/client';
import { type DemoTexts, EMBEDDED_TEXTS, LANGUAGE_NOTE, MODEL_TEXTS } from './demo-texts.ts';
import { Editor, type SeenTurn } from './editor.ts';
import type { Screen } from './screen.ts';

/**
 * Streaming text is saved every half second, so after this time a part of the message has been
 * saved.
 */
const KILL_AFTER_MS = 1500;
const HEADLINE_CHARS_MAX = 70;
/**
 * The beginning of the output of a command that is refused because this system has no sandbox. The
 * rest says what to do.
 */
const NO_SANDBOX = 'Commands cannot be sandboxed';

export interface SessionOptions {
  screen: Screen;
  /** An empty folder for the project, the home, and what is written outside of the project. */
  folder: string;
  /** The arguments of the server. */
  args: readonly string[];
  /** Whether the embedded model answers, or a script or a model of a provider. */
  isEmbedded: boolean;
  /** The environment of the server. By default that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Gets every notification of the servers. */
  onNotification?: ((notification: Notification) => void) | undefined;
}

interface FirstProcess {
  threadId: string;
  first: SeenTurn & { id: string };
  cut: SeenTurn & { id: string };
}

/**
 * The session of the demo. It checks everything that it shows, and rejects if something is wrong.
 */
export class DemoSession {
  readonly project: string;
  readonly #screen: Screen;
  readonly #folder: string;
  readonly #args: readonly string[];
  readonly #isEmbedded: boolean;
  readonly #env: NodeJS.ProcessEnv;
  readonly #texts: DemoTexts;
  readonly #onNotification: SessionOptions['onNotification'];
  readonly #editors: Editor[] = [];

  constructor({
    screen,
    folder,
    args,
    isEmbedded,
    env = process.env,
    onNotification,
  }: SessionOptions) {
    this.#screen = screen;
    this.#folder = folder;
    this.project = join(folder, 'project');
    this.#args = args;
    this.#isEmbedded = isEmbedded;
    this.#env = env;
    this.#onNotification = onNotification;
    this.#texts = isEmbedded ? EMBEDDED_TEXTS : MODEL_TEXTS;
  }

  /** Returns the reason if there is no sandbox for commands, else null. */
  async run(): Promise<string | null> {
    const { sha } = this.makeProject();
    return await this.#secondProcess(await this.#firstProcess(sha));
  }

  /** Kills all servers. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#editors.map(({ client }) => client.kill()));
  }

  /** Needs the project. */
  startServer(): Editor {
    const home = join(this.#folder, 'home');
    const [args, env, screen, onNotification] = [
      this.#args,
      this.#env,
      this.#screen,
      this.#onNotification,
    ];
    const editor = new Editor({ home, cwd: this.project, args, env, screen, onNotification });
    this.#editors.push(editor);
    return editor;
  }

  /** Makes a repository with one file. Returns its commit. */
  makeProject(): { sha: string } {
    mkdirSync(this.project);
    writeFileSync(join(this.project, 'hello.txt'), 'Hello.\n');
    const git = (...args: string[]) => runGit(this.project, args);
    const author = [
      '-c',
      'user.name=demo',
      '-c',
      'user.email=demo@localhost',
      '-c',
      'commit.gpgsign=false',
    ];
    git('init', '--quiet');
    git('symbolic-ref', 'HEAD', 'refs/heads/main');
    git('add', '.');
    git(...author, 'commit', '--quiet', '--message', 'A file');
    return { sha: git('rev-parse', 'HEAD') };
  }

  /** Sends the user's text, waits until the turn has ended, and checks the turn. */
  async #runTurn(
    editor: Editor,
    threadId: string,
    text: string,
  ): Promise<SeenTurn & { id: string }> {
    const turn = await editor.say(threadId, text);
    await editor.until(() => turn.end !== null);
    assert.ok(
      turn.end?.status === 'completed',
      `the turn ended ${turn.end?.status}: ${turn.end?.error?.message}`,
    );
    const messages = turn.completed.filter((item) => item.type === 'agentMessage');
    assert.ok(messages.length > 0, 'a turn has an answer');
    for (const { id, text: whole } of messages)
      assert.equal(turn.streamed.get(id), whole, 'the deltas add up to the message');
    return turn;
  }

  async #firstProcess(sha: string): Promise<FirstProcess> {
    this.#screen.heading('1. A server, a thread, a turn');
    const editor = this.startServer();
    const { serverInfo, protocolVersion, userAgent, capabilities } = await editor.shakeHands();
    const methods = Object.values(capabilities.methods).flat().length;
    this.#screen.note(
      `initialize: ${serverInfo.name} ${serverInfo.version}, protocol ${protocolVersion}, ${methods} methods`,
    );
    assert.equal(serverInfo.name, 'heddle');
    assert.ok(userAgent.startsWith(`heddle-demo/${protocolVersion} `));

    const { thread, approvalPolicy, sandbox } = await editor.client.request('thread/start', {
      cwd: this.project,
    });
    this.#screen.note(
      `thread/start: ${short(thread.id)}, model ${thread.model}, branch ${thread.gitInfo?.branch}, approvals ${JSON.stringify(approvalPolicy)}, sandbox ${sandbox.type}`,
    );
    assert.deepEqual(thread.gitInfo, { sha, branch: 'main', originUrl: null });
    await editor.until(() => editor.startedThreads.includes(thread.id));
    if (this.#isEmbedded) this.#screen.note(LANGUAGE_NOTE);
    const first = await this.#runTurn(editor, thread.id, this.#texts.first);

    this.#screen.heading('2. A turn, and `kill -9` in the middle of it');
    const cut = await editor.say(thread.id, this.#texts.long);
    await editor.until(() => cut.deltas > 0);
    await sleep(KILL_AFTER_MS);
    assert.equal(cut.end, null, 'the long turn was over before it could be killed');
    assert.equal((await editor.client.kill()).signal, 'SIGKILL');
    this.#screen.note(`(killed after ${cut.deltas.toLocaleString('en')} deltas)`);
    return { threadId: thread.id, first, cut };
  }

  async #secondProcess({ threadId, first, cut }: FirstProcess) {
    this.#screen.heading('3. A new process resumes the thread');
    const editor = this.startServer();
    await editor.shakeHands();
    const { thread } = await editor.client.request('thread/resume', { threadId });
    this.#showHistory('thread/resume', thread);
    assert.deepEqual(
      thread.turns.map(({ status }) => status),
      ['completed', 'interrupted'],
    );
    assertKept(thread.turns[0], first);
    assertKept(thread.turns[1], cut);
    this.#assertPartKept(thread.turns[1]?.items.at(-1), cut);

    this.#screen.heading('4. A fork after the first turn, and a turn in each thread');
    const { thread: fork } = await editor.client.request('thread/fork', {
      threadId,
      lastTurnId: first.id,
    });
    this.#showHistory('thread/fork', fork);
    assert.equal(fork.forkedFromId, threadId);
    assert.deepEqual(fork.turns, thread.turns.slice(0, 1), 'a fork has the history of its source');
    const onSource = await this.#runTurn(editor, threadId, this.#texts.source);
    const onFork = await this.#runTurn(editor, fork.id, this.#texts.fork);
    await assertTurnIds(editor, threadId, [first.id, cut.id, onSource.id]);
    await assertTurnIds(editor, fork.id, [first.id, onFork.id]);

    this.#screen.heading('5. A command, a patch, and an approval');
    const refusal = await this.useHands(editor);

    this.#screen.heading('6. A guardian decides in place of the user');
    await this.#useGuardian(editor);

    this.#screen.heading('7. An agent works for the agent');
    await this.#useAgents(editor);

    this.#screen.heading('8. The list of threads');
    const { data } = await editor.client.request('thread/list', {});
    this.#screen.note(`thread/list: ${data.length} threads, the newest first`);
    for (const { id, status, forkedFromId, preview } of data) {
      const origin = forkedFromId === null ? '' : `, forked from ${short(forkedFromId)}`;
      this.#screen.note(`${short(id)} ${status.type}${origin}: ${start(preview)}`);
    }
    assert.deepEqual(
      data.map(({ id, status }) => [id, status.type]),
      [
        [fork.id, 'idle'],
        [threadId, 'idle'],
      ],
    );
    await editor.client.close();
    assert.deepEqual(
      await editor.client.exit,
      { code: 0, signal: null },
      'the server exits cleanly when its stdin ends',
    );
    return refusal;
  }

  /**
   * The agent reads a file, changes it, and asks before it leaves its sandbox. Returns the reason
   * if there is no sandbox, else null.
   */
  async useHands(editor: Editor): Promise<string | null> {
    const { thread } = await editor.client.request('thread/start', {
      cwd: this.project,
      ephemeral: true,
      sandbox: 'workspace-write',
      approvalPolicy: 'on-request',
    });
    const { completed, allowed } = await this.#runTurn(editor, thread.id, this.#texts.hands);
    const commands = completed.filter((item) => item.type === 'commandExecution');
    const refusal =
      commands.find(({ aggregatedOutput }) => aggregatedOutput?.startsWith(NO_SANDBOX))
        ?.aggregatedOutput ?? null;
    assert.ok(
      // A login shell can print something first.
      refusal !== null ||
        commands.some(
          ({ exitCode, aggregatedOutput }) =>
            exitCode === 0 && aggregatedOutput?.endsWith('Hello.\n'),
        ),
      `the first command shows the file, inside the sandbox: ${commands[0]?.aggregatedOutput ?? 'no command ran'}`,
    );
    assert.ok(
      completed.some((item) => item.type === 'fileChange' && item.status === 'completed'),
      'the patch is applied',
    );
    assert.equal(allowed.length, 1, 'the agent asks before it leaves the sandbox');
    for (const file of [join(this.project, 'hello.txt'), join(this.#folder, 'outside.txt')])
      assert.equal(readFileSync(file, 'utf8'), 'Hello, heddle.\n');
    return refusal;
  }

  /**
   * Approval requests go to the guardian model. The embedded one lets one command pass and denies
   * the other.
   */
  async #useGuardian(editor: Editor): Promise<void> {
    const { thread } = await editor.client.request('thread/start', {
      cwd: this.project,
      ephemeral: true,
      sandbox: 'workspace-write',
      approvalPolicy: 'on-request',
      approvalsReviewer: 'auto_review',
    });
    const { completed, allowed } = await this.#runTurn(editor, thread.id, this.#texts.guarded);
    assert.equal(allowed.length, 0, 'the user is not asked');
    const reviews = completed.flatMap((item) =>
      item.type === 'commandExecution' ? (item.approvalReviews ?? []) : [],
    );
    assert.ok(reviews.length > 0, 'the guardian reviews what leaves the sandbox');
    if (!this.#isEmbedded) return;
    assert.deepEqual(reviews.map(({ review }) => review.status).sort(), ['approved', 'denied']);
    assert.equal(
      readFileSync(join(this.#folder, 'second.txt'), 'utf8'),
      'Hello, heddle.\n',
      'the approved command ran',
    );
    assert.equal(
      readFileSync(join(this.#folder, 'outside.txt'), 'utf8'),
      'Hello, heddle.\n',
      'the denied command did not run',
    );
  }

  /** The agent starts another one, which works in a thread of its own and reports. */
  async #useAgents(editor: Editor): Promise<void> {
    const { thread } = await editor.client.request('thread/start', {
      cwd: this.project,
      ephemeral: true,
      sandbox: 'read-only',
    });
    const completed = [];
    for (const text of this.#texts.agents)
      completed.push(...(await this.#runTurn(editor, thread.id, text)).completed);
    const calls = completed.filter((item) => item.type === 'collabAgentToolCall');
    const started = calls.find(
      ({ tool, status }) => tool === 'spawnAgent' && status === 'completed',
    );
    const agentId = started?.receiverThreadIds[0];
    assert.ok(agentId !== undefined, 'an agent was started');
    const report = calls.find(({ tool }) => tool === 'wait')?.agentsStates[agentId];
    assert.equal(report?.status, 'completed', 'the agent has finished');
    const { thread: agent } = await editor.client.request('thread/read', { threadId: agentId });
    const role = agent.agentRole ?? 'default';
    this.#screen.note(
      `${short(agentId)} is ${agent.agentNickname}, an agent of ${short(thread.id)} with the role ${role}`,
    );
    assert.equal(
      agent.parentThreadId,
      thread.id,
      'the thread of the agent names the thread that started it',
    );
    if (this.#isEmbedded)
      assert.equal(
        report.message,
        'hello.txt has two words.',
        'the report reaches the agent that waits for it',
      );
    await editor.until(() => editor.usageOf(thread.id)?.withAgents !== undefined);
  }

  /** Checks that the saved part of the message that the kill cut off is there. */
  #assertPartKept(item: ThreadItem | undefined, cut: SeenTurn): void {
    assert.ok(
      item?.type === 'agentMessage' && item.text !== '',
      'a part of the message that was cut off is kept',
    );
    const seen = cut.streamed.get(item.id) ?? '';
    assert.ok(
      seen.startsWith(item.text) || item.text.startsWith(seen),
      'the kept text matches the streamed text',
    );
    this.#screen.note(
      `(${item.text.length.toLocaleString('en')} of ${seen.length.toLocaleString('en')} characters of the message that was cut off are kept)`,
    );
  }

  #showHistory(method: string, { id, turns }: Thread): void {
    this.#screen.note(
      `${method}: ${short(id)} has ${turns.length} ${turns.length === 1 ? 'turn' : 'turns'}`,
    );
    for (const { status, items } of turns) {
      this.#screen.note(`- ${status}`);
      for (const item of items) this.#screen.says(...headline(item));
    }
  }
}

function runGit(cwd: string, args: string[]): string {
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Error('git is not in the PATH: install it, and run the demo again', {
        cause: error,
      });
    throw error;
  }
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

async function assertTurnIds(editor: Editor, threadId: string, expected: string[]): Promise<void> {
  const { thread } = await editor.client.request('thread/read', { threadId, includeTurns: true });
  assert.deepEqual(
    thread.turns.map(({ id }) => id),
    expected,
    'each thread continues on its own',
  );
}

/** The author of an item, and the beginning of its text. */
function headline(item: ThreadItem): [who: string, text: string] {
  switch (item.type) {
    case 'userMessage':
      return [
        'you',
        start(item.content.map((part) => (part.type === 'text' ? part.text : part.type)).join(' ')),
      ];
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
