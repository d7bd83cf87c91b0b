import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DemoTexts, demoTexts } from './demo-texts.ts';
import type { Editor } from './editor.ts';
import { projectIn } from './make-project.ts';
import type { Screen } from './screen.ts';
import { shortId } from './show-history.ts';

/**
 * The beginning of the output of a command that is refused because this system has no sandbox. The
 * rest says what to do.
 */
const NO_SANDBOX = 'Commands cannot be sandboxed';

export interface ScenesOptions {
  editor: Editor;
  screen: Screen;
  /** The folder of the session. It has the project. */
  folder: string;
  /** Whether the embedded model answers. */
  isEmbedded: boolean;
}

/** What agents do in the demo, in threads of their own. Rejects if something is wrong. */
export class AgentScenes {
  readonly #editor: Editor;
  readonly #screen: Screen;
  readonly #folder: string;
  readonly #isEmbedded: boolean;
  readonly #texts: DemoTexts;

  constructor({ editor, screen, folder, isEmbedded }: ScenesOptions) {
    this.#editor = editor;
    this.#screen = screen;
    this.#folder = folder;
    this.#isEmbedded = isEmbedded;
    this.#texts = demoTexts(isEmbedded);
  }

  /**
   * The agent reads a file, changes it, and asks before it leaves its sandbox. Returns the reason
   * if there is no sandbox, else null.
   */
  async work(): Promise<string | null> {
    const { thread } = await this.#editor.client.request('thread/start', {
      cwd: projectIn(this.#folder),
      ephemeral: true,
      sandbox: 'workspace-write',
      approvalPolicy: 'on-request',
    });
    const { completed, allowed } = await this.#editor.runTurn(thread.id, this.#texts.hands);
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
    for (const file of [
      join(projectIn(this.#folder), 'hello.txt'),
      join(this.#folder, 'outside.txt'),
    ])
      assert.equal(readFileSync(file, 'utf8'), 'Hello, heddle.\n');
    return refusal;
  }

  /**
   * Approval requests go to the guardian model. The embedded one lets one command pass and denies
   * the other.
   */
  async consultGuardian(): Promise<void> {
    const { thread } = await this.#editor.client.request('thread/start', {
      cwd: projectIn(this.#folder),
      ephemeral: true,
      sandbox: 'workspace-write',
      approvalPolicy: 'on-request',
      approvalsReviewer: 'auto_review',
    });
    const { completed, allowed } = await this.#editor.runTurn(thread.id, this.#texts.guarded);
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
  async startAgent(): Promise<void> {
    const { thread } = await this.#editor.client.request('thread/start', {
      cwd: projectIn(this.#folder),
      ephemeral: true,
      sandbox: 'read-only',
    });
    const completed = [];
    for (const text of this.#texts.agents)
      completed.push(...(await this.#editor.runTurn(thread.id, text)).completed);
    const calls = completed.filter((item) => item.type === 'collabAgentToolCall');
    const started = calls.find(
      ({ tool, status }) => tool === 'spawnAgent' && status === 'completed',
    );
    const agentId = started?.receiverThreadIds[0];
    assert.ok(agentId !== undefined, 'an agent was started');
    const report = calls.find(({ tool }) => tool === 'wait')?.agentsStates[agentId];
    assert.equal(report?.status, 'completed', 'the agent has finished');
    const { thread: agent } = await this.#editor.client.request('thread/read', {
      threadId: agentId,
    });
    const role = agent.agentRole ?? 'default';
    this.#screen.note(
      `${shortId(agentId)} is ${agent.agentNickname}, an agent of ${shortId(thread.id)} with the role ${role}`,
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
    await this.#editor.until(() => this.#editor.usageOf(thread.id)?.withAgents !== undefined);
  }
}
