import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Notification, ThreadItem, Turn } from 'heddle/client';
import { AgentScenes } from './agent-scenes.ts';
import { type DemoTexts, demoTexts, LANGUAGE_NOTE } from './demo-texts.ts';
import { Editor, type SeenTurn } from './editor.ts';
import { makeProject, projectIn } from './make-project.ts';
import type { Screen } from './screen.ts';
import { firstWords, shortId, showHistory } from './show-history.ts';

/**
 * Streaming text is saved every half second, so after this time a part of the message has been
 * saved.
 */
const KILL_AFTER_MS = 1500;
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
  readonly #project: string;
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
    this.#project = projectIn(folder);
    this.#args = args;
    this.#isEmbedded = isEmbedded;
    this.#env = env;
    this.#onNotification = onNotification;
    this.#texts = demoTexts(isEmbedded);
  }

  /** Returns the reason if there is no sandbox for commands, else null. */
  async run(): Promise<string | null> {
    const { sha } = makeProject(this.#folder);
    return await this.#secondProcess(await this.#firstProcess(sha));
  }

  /** Kills all servers. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#editors.map(({ client }) => client.kill()));
  }

  /** Needs the project of `makeProject`. */
  startServer(): Editor {
    const home = join(this.#folder, 'home');
    const [args, env, screen, onNotification] = [
      this.#args,
      this.#env,
      this.#screen,
      this.#onNotification,
    ];
    const editor = new Editor({ home, cwd: this.#project, args, env, screen, onNotification });
    this.#editors.push(editor);
    return editor;
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
      cwd: this.#project,
    });
    this.#screen.note(
      `thread/start: ${shortId(thread.id)}, model ${thread.model}, branch ${thread.gitInfo?.branch}, approvals ${JSON.stringify(approvalPolicy)}, sandbox ${sandbox.type}`,
    );
    assert.deepEqual(thread.gitInfo, { sha, branch: 'main', originUrl: null });
    await editor.until(() => editor.startedThreads.includes(thread.id));
    if (this.#isEmbedded) this.#screen.note(LANGUAGE_NOTE);
    const first = await editor.runTurn(thread.id, this.#texts.first);

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
    showHistory(this.#screen, 'thread/resume', thread);
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
    showHistory(this.#screen, 'thread/fork', fork);
    assert.equal(fork.forkedFromId, threadId);
    assert.deepEqual(fork.turns, thread.turns.slice(0, 1), 'a fork has the history of its source');
    const onSource = await editor.runTurn(threadId, this.#texts.source);
    const onFork = await editor.runTurn(fork.id, this.#texts.fork);
    await assertTurnIds(editor, threadId, [first.id, cut.id, onSource.id]);
    await assertTurnIds(editor, fork.id, [first.id, onFork.id]);

    this.#screen.heading('5. A command, a patch, and an approval');
    const scenes = new AgentScenes({
      ...{ editor, screen: this.#screen, folder: this.#folder, isEmbedded: this.#isEmbedded },
    });
    const refusal = await scenes.work();

    this.#screen.heading('6. A guardian decides in place of the user');
    await scenes.consultGuardian();

    this.#screen.heading('7. An agent works for the agent');
    await scenes.startAgent();

    this.#screen.heading('8. The list of threads');
    const { data } = await editor.client.request('thread/list', {});
    this.#screen.note(`thread/list: ${data.length} threads, the newest first`);
    for (const { id, status, forkedFromId, preview } of data) {
      const origin = forkedFromId === null ? '' : `, forked from ${shortId(forkedFromId)}`;
      this.#screen.note(`${shortId(id)} ${status.type}${origin}: ${firstWords(preview)}`);
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
