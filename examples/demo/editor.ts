import assert from 'node:assert/strict';
import { relative } from 'node:path';
import {
  type Notification,
  type SpawnedClient,
  showText,
  spawnServer,
  type ThreadItem,
  type ThreadTokenUsage,
  type Turn,
  type TurnPlanStep,
} from 'heddle/client';
import type { Screen } from './screen.ts';

/** The part of a turn that has been received so far. */
export interface SeenTurn {
  /** Items that were announced as completed. */
  completed: ThreadItem[];
  /** The streamed text of agent messages, by item id. */
  streamed: Map<string, string>;
  deltas: number;
  usage: ThreadTokenUsage | null;
  /** The commands that the user was asked about and accepted. */
  allowed: string[];
  /** Null until `turn/completed`. */
  end: Turn | null;
}

export interface EditorOptions {
  home: string;
  cwd: string;
  /** The arguments of the server. */
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  screen: Screen;
  /** Gets every notification, too. */
  onNotification?: ((notification: Notification) => void) | undefined;
}

/** The client of one server process. It shows and remembers the server's notifications. */
export class Editor {
  readonly client: SpawnedClient;
  readonly startedThreads: string[] = [];
  readonly #usages = new Map<string, ThreadTokenUsage>();
  readonly #screen: Screen;
  readonly #cwd: string;
  readonly #turns = new Map<string, SeenTurn>();
  readonly #looks = new Set<() => void>();

  constructor({ home, cwd, args, env, screen, onNotification }: EditorOptions) {
    this.#screen = screen;
    this.#cwd = cwd;
    this.client = spawnServer({
      home,
      cwd,
      args,
      env,
      onStderr: (text) => process.stderr.write(showText(text, { multiline: true })),
      onMessage: ({ direction, line }) => screen.wire(direction, line),
    });
    this.client.handle('item/commandExecution/requestApproval', ({ turnId, command, reason }) => {
      this.#screen.says(
        'asks',
        `${showText(reason ?? 'May this command run?')}\n$ ${showText(command ?? '')}`,
      );
      this.#screen.says('you', 'accept');
      this.#turn(turnId).allowed.push(command ?? '');
      return { decision: 'accept' };
    });
    const take = (notification: Notification) => {
      onNotification?.(notification);
      this.#receive(notification);
    };
    this.client.subscribe({ take, end: () => {} });
  }

  shakeHands() {
    return this.client.initialize({
      clientInfo: { name: 'heddle-demo', title: 'The demo of heddle', version: '1.0.0' },
    });
  }

  /** The last usage of a thread. */
  usageOf(threadId: string): ThreadTokenUsage | null {
    return this.#usages.get(threadId) ?? null;
  }

  /** Sends the user's text. Resolves when the server has accepted the turn. */
  async say(threadId: string, text: string): Promise<SeenTurn & { id: string }> {
    this.#screen.says('you', text);
    const { turn } = await this.client.request('turn/start', {
      threadId,
      input: [{ type: 'text', text }],
    });
    return Object.assign(this.#turn(turn.id), { id: turn.id });
  }

  /** Sends the user's text, waits until the turn has ended, and checks the turn. */
  async runTurn(threadId: string, text: string): Promise<SeenTurn & { id: string }> {
    const turn = await this.say(threadId, text);
    await this.until(() => turn.end !== null);
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

  /**
   * Resolves when `holds` returns true, which is checked after each notification. Rejects if the
   * server ends before.
   */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!holds()) return;
        this.#looks.delete(look);
        resolve();
      };
      this.#looks.add(look);
      look();
      void this.client.exit.then(({ code, signal }) =>
        reject(new Error(`the server exited (${signal ?? code}) too early`)),
      );
    });
  }

  /**
   * The record of a turn. Created by the turn's first notification or by the response to
   * `turn/start`, whichever comes first.
   */
  #turn(id: string): SeenTurn {
    const turn = this.#turns.get(id) ?? {
      completed: [],
      streamed: new Map(),
      deltas: 0,
      usage: null,
      allowed: [],
      end: null,
    };
    this.#turns.set(id, turn);
    return turn;
  }

  #receive(notification: Notification): void {
    this.#remember(notification);
    this.#show(notification);
    for (const look of this.#looks) look();
  }

  #remember({ method, params }: Notification): void {
    switch (method) {
      case 'thread/started':
        this.startedThreads.push(params.thread.id);
        break;
      case 'item/agentMessage/delta': {
        const turn = this.#turn(params.turnId);
        turn.deltas++;
        turn.streamed.set(params.itemId, (turn.streamed.get(params.itemId) ?? '') + params.delta);
        break;
      }
      case 'item/completed':
        this.#turn(params.turnId).completed.push(params.item);
        break;
      case 'thread/tokenUsage/updated':
        this.#turn(params.turnId).usage = params.tokenUsage;
        this.#usages.set(params.threadId, params.tokenUsage);
        break;
      case 'turn/completed':
        this.#turn(params.turn.id).end = params.turn;
        break;
      default: // Other notifications are not needed later.
    }
  }

  #show({ method, params }: Notification): void {
    switch (method) {
      case 'configWarning':
        this.#screen.note(`warning: ${params.summary}`);
        break;
      case 'item/started':
        if (params.item.type === 'agentMessage') this.#screen.begins('agent');
        break;
      case 'item/agentMessage/delta':
        this.#screen.adds(params.delta);
        break;
      case 'item/autoApprovalReview/completed': {
        const { status, riskLevel, rationale } = params.review;
        this.#screen.says(
          'guards',
          showText(`${status} (risk: ${riskLevel ?? 'unknown'}). ${rationale ?? ''}`),
        );
        break;
      }
      case 'item/completed':
        this.#showItem(params.item);
        break;
      case 'turn/plan/updated':
        this.#screen.says('plans', params.plan.map(planLine).join('\n'));
        break;
      case 'turn/completed':
        this.#showEnd(params.turn);
        break;
      default: // Other notifications are not shown.
    }
  }

  #showItem(item: ThreadItem): void {
    switch (item.type) {
      case 'reasoning':
        if (item.summary?.length) this.#screen.says('thinks', item.summary.join('\n'));
        break;
      case 'agentMessage':
        this.#screen.ends();
        break;
      case 'commandExecution':
        this.#screen.says('runs', commandText(item));
        break;
      case 'collabAgentToolCall':
        this.#screen.says('agents', collabText(item));
        break;
      case 'fileChange':
        for (const { path, diff } of item.changes)
          this.#screen.edits(showText(relative(this.#cwd, path)), diff);
        break;
      default: // Other items are not shown.
    }
  }

  #showEnd({ id, status, durationMs }: Turn): void {
    const { deltas, usage } = this.#turn(id);
    const tokens = (usage?.last.totalTokens ?? 0).toLocaleString('en');
    this.#screen.note(
      `(turn ${status} in ${durationMs} ms: ${deltas} deltas; ${tokens} tokens in the last request)`,
    );
  }
}

function commandText({
  command,
  aggregatedOutput,
  exitCode,
  status,
}: Extract<ThreadItem, { type: 'commandExecution' }>): string {
  const output = aggregatedOutput?.trimEnd() ?? '';
  return [
    `$ ${showText(command)}`,
    ...(output === '' ? [] : [output]),
    status === 'declined' ? '(declined)' : `(exit code ${exitCode})`,
  ].join('\n');
}

function collabText({
  tool,
  status,
  prompt,
  agentsStates,
}: Extract<ThreadItem, { type: 'collabAgentToolCall' }>): string {
  const states = Object.values(agentsStates).map(
    (state) => `${state?.status}${state?.message ? `: ${showText(state.message)}` : ''}`,
  );
  return [
    `${tool}: ${status}`,
    ...(prompt ? [showText(prompt, { multiline: true })] : []),
    ...states,
  ].join('\n');
}

function planLine({ status, step }: TurnPlanStep): string {
  const marks = { completed: 'x', inProgress: '>', pending: ' ' };
  return `[${marks[status]}] ${step}`;
}
