import type {
  ServerNotifications,
  Turn,
  UserInput,
} from '../../../src/protocol/generated/types.ts';
import type { Message } from '../../support/test-client.ts';
import { text } from '../../support/test-client.ts';
import type { Random } from '../hostile/random.ts';
import { LateError, within } from '../hostile/within.ts';
import type { HeddleProcess } from '../support.ts';
import { ANSWER_MS_MAX, type Lane } from './lane.ts';
import {
  type KnownThread,
  type KnownTurn,
  knownNow,
  problemsOfTurns,
  type Reading,
} from './ledger.ts';
import { KEY_START, planCall, planCheck, planTurn, type TurnPlan } from './turn-plan.ts';

/** A turn ends within this time, however busy the machine is. */
const TURN_MS_MAX = 20_000;
const MESSAGES_MAX = 60;
/**
 * A server that answers later than this was blocked. A busy machine delays answers, too, but not as
 * much.
 */
const FROZEN_MS = 1_000;

/** The reason that an error must give, while a fault is there. */
export interface Cause {
  names: RegExp;
  /** A wrong reason. */
  not?: RegExp;
}

interface WorldOptions {
  seed: number;
  random: Random;
  lane: Lane;
}

interface Question {
  server: HeddleProcess;
  id: string | number;
}

/** One seed: some threads with turns, a fault, and what must be true after it. */
export class World {
  readonly seed: number;
  readonly random: Random;
  readonly lane: Lane;
  /** The events, in order. */
  readonly story: string[] = [];
  readonly findings: string[] = [];
  readonly threads: KnownThread[] = [];
  /** The reasons that errors may give. Empty: no error is expected. */
  readonly causes: Cause[] = [];
  /** Turns may end interrupted, because their server ends. */
  ending = false;
  /**
   * Threads may have turns that the client was not told of: an older state of the database was put
   * in place.
   */
  othersAllowed = false;
  readonly #questions: Question[] = [];
  readonly #hanging = new Set<KnownTurn>();
  readonly #cutOff = new Set<KnownTurn>();
  #answersLate: boolean;
  #turns = 0;
  #seen = 0;
  #wake: () => void = () => {};

  constructor({ seed, random, lane }: WorldOptions) {
    this.seed = seed;
    this.random = random;
    this.lane = lane;
    this.#answersLate = random.chance(0.3);
    lane.onMessage = (message, from) => this.#see(message, from);
    lane.model.onStall = () => this.#wake();
  }

  tell(what: string): void {
    this.story.push(what);
  }

  find(what: string): void {
    if (!this.findings.includes(what)) this.findings.push(what);
  }

  /** Starts threads in a server. */
  async startThreads(number: number, count: number): Promise<KnownThread[]> {
    const server = await this.lane.server(number);
    const started: KnownThread[] = [];
    for (let index = 0; index < count; index++) {
      const cwd = this.lane.workspace();
      const policy = this.random.weighted([
        { weight: 4, sandbox: 'danger-full-access' as const, approvalPolicy: 'never' as const },
        { weight: 1, sandbox: 'workspace-write' as const, approvalPolicy: 'never' as const },
        { weight: 1, sandbox: 'danger-full-access' as const, approvalPolicy: 'untrusted' as const },
      ]);
      const { sandbox, approvalPolicy } = policy;
      const { thread } = await this.answered(
        'thread/start',
        server.request('thread/start', { cwd, sandbox, approvalPolicy }),
      );
      started.push(this.lane.ledger.addThread(thread.id, { cwd, server: number, sandbox }));
    }
    this.threads.push(...started);
    return started;
  }

  /** Starts threads with a turn in each, and does not wait for the turns. */
  async begin(number = 0, { mayHang = true } = {}): Promise<HeddleProcess> {
    for (const thread of await this.startThreads(number, this.random.between(1, 2)))
      this.startTurn(thread, { mayHang });
    return this.lane.server(number);
  }

  /** Asks for a turn and does not wait for the answer. */
  startTurn(
    thread: KnownThread,
    { mayHang = false, plain = false, also = [] as UserInput[] } = {},
  ): KnownTurn {
    return this.#ask(
      thread,
      planTurn(this.random, { key: this.#nextKey(), cwd: thread.cwd, mayHang, plain }),
      also,
    );
  }

  /** Asks for a turn in which the model makes one call. */
  startCall(thread: KnownThread, tool: string, args: object): KnownTurn {
    return this.#ask(thread, planCall(this.#nextKey(), tool, args));
  }

  /**
   * Waits until the servers have sent so many more messages, or can do nothing more by themselves.
   */
  async moment(messages = this.random.between(0, MESSAGES_MAX)): Promise<void> {
    const enough = this.#seen + messages;
    await this.#until(
      'the moment of the fault',
      () => this.#seen >= enough || this.#openTurns().every((turn) => this.#waits(turn)),
    );
    this.tell(`after ${this.#seen} messages`);
  }

  /** Lets all turns go on to their ends. */
  async settle(): Promise<void> {
    for (const turn of this.#openTurns()) this.lane.model.release(turn.plan.key);
    this.#answersLate = false;
    this.#answerQuestions();
    await this.#until('the turns', () =>
      this.#openTurns().every((turn) => this.#hanging.has(turn)),
    );
    for (const turn of this.#openTurns()) await this.#interrupt(turn);
    await this.#until('interrupted turns', () => this.#openTurns().length === 0);
  }

  /**
   * Reads all threads, each with the server that has it, and compares them with what was announced.
   */
  async verify({ running }: Pick<Reading, 'running'> = { running: false }): Promise<void> {
    for (const thread of [...this.threads, ...this.lane.kept]) {
      const server = await this.lane.server(thread.server);
      // More may be announced before the answer comes.
      const known = knownNow(thread);
      const asked = server.ask('thread/read', { threadId: thread.id, includeTurns: true });
      const { result, error } = await this.answered('thread/read', asked);
      if (error !== undefined) {
        this.#checkError(`thread/read of an announced thread`, error.message);
        continue;
      }
      const { turns } = (result as { thread: { turns: Turn[] } }).thread;
      for (const problem of problemsOfTurns(known, turns, {
        running,
        othersAllowed: this.othersAllowed,
      }))
        this.find(problem);
    }
  }

  /**
   * Resumes the threads that were unloaded, and runs a turn in each, some of them with a command.
   */
  async works(): Promise<void> {
    const checks: KnownTurn[] = [];
    for (const [index, thread] of this.threads.entries()) {
      const server = await this.lane.server(thread.server);
      const loaded = await this.answered(
        'thread/loaded/list',
        server.request('thread/loaded/list', {}),
      );
      if (!loaded.data.includes(thread.id)) {
        const { sandbox } = thread;
        const { error } = await this.answered(
          'thread/resume',
          server.ask('thread/resume', { threadId: thread.id, sandbox, approvalPolicy: 'never' }),
        );
        if (error !== undefined) {
          this.find(`thread/resume of an announced thread: ${error.message}`);
          continue;
        }
      }
      checks.push(
        this.#ask(
          thread,
          planCheck(this.#nextKey(), {
            command:
              thread.sandbox === 'workspace-write' || (index === 0 && this.random.chance(0.3)),
          }),
        ),
      );
    }
    await this.settle();
    for (const { plan, refused, ends } of checks) {
      const status = refused ?? ends[0]?.error?.message ?? ends[0]?.status;
      if (status !== 'completed')
        this.find(`after the fault, the turn ${plan.key} ended: ${status}`);
    }
  }

  /** States that the database has none of the threads any more. */
  forgetThreads(): void {
    this.lane.kept.length = 0;
    for (const { id } of this.threads.splice(0)) this.lane.ledger.threads.delete(id);
  }

  /** Checks the errors that the client was told of. */
  checkErrors(turns: readonly KnownTurn[] = this.threads.flatMap((thread) => thread.turns)): void {
    for (const turn of turns) {
      if (turn.refused !== null) this.#checkError(`turn/start of ${turn.plan.key}`, turn.refused);
      const [end] = turn.ends;
      if (end?.status === 'failed')
        this.#checkError(`the turn ${turn.plan.key}`, end.error?.message ?? 'no reason');
      const expected = this.ending || this.#hanging.has(turn);
      if (end?.status === 'interrupted' && !expected)
        this.find(`the turn ${turn.plan.key} was interrupted, and nobody asked for it`);
    }
  }

  /** Checks that a server answers a request that needs no disk. */
  async responds(number = 0, msMax = FROZEN_MS): Promise<void> {
    const server = await this.lane.server(number);
    try {
      await within(msMax, 'an answer without the disk', server.request('thread/loaded/list', {}));
    } catch (error) {
      if (!(error instanceof LateError)) throw error;
      this.find(`server ${number} is frozen: it does not answer for ${msMax} ms`);
    }
  }

  /** Bounds a wait for an answer. */
  answered<T>(what: string, answer: Promise<T>): Promise<T> {
    return within(ANSWER_MS_MAX, what, answer);
  }

  /** Ends a server by its process. Its turns may be cut off. */
  async kill(number = 0): Promise<void> {
    const server = await this.lane.server(number);
    this.lane.expectEnd(server);
    await server.kill();
    this.cutOff(number);
  }

  /**
   * Forgets that turns of a server that has ended are waited for: their ends may not have been
   * sent.
   */
  cutOff(number: number): void {
    for (const turn of this.threads
      .filter(({ server }) => server === number)
      .flatMap(({ turns }) => turns)) {
      this.#cutOff.add(turn);
      this.lane.model.release(turn.plan.key);
    }
    const left = this.#questions.filter(({ server }) => !server.hasEnded);
    this.#questions.splice(0, this.#questions.length, ...left);
    this.#wake();
  }

  #nextKey(): string {
    return `${KEY_START}${this.seed}-${++this.#turns}`;
  }

  #ask(thread: KnownThread, plan: TurnPlan, also: readonly UserInput[] = []): KnownTurn {
    const { turn, requestId } = this.lane.ledger.ask(thread, plan);
    this.lane.model.plan(plan);
    const params = { threadId: thread.id, input: [...text(plan.key), ...also] };
    void this.lane
      .server(thread.server)
      .then((server) =>
        server.send(JSON.stringify({ id: requestId, method: 'turn/start', params })),
      );
    return turn;
  }

  /** The turns whose end, or whose refusal, is still to come. */
  #openTurns(): KnownTurn[] {
    const turns = this.threads.flatMap((thread) => thread.turns);
    return turns.filter(
      (turn) => turn.ends.length === 0 && turn.refused === null && !this.#cutOff.has(turn),
    );
  }

  /** Whether a turn waits for the test. */
  #waits(turn: KnownTurn): boolean {
    return (
      this.lane.model.isStalled(turn.plan.key) ||
      this.#hanging.has(turn) ||
      this.#questions.length > 0
    );
  }

  async #interrupt(turn: KnownTurn): Promise<void> {
    const thread = this.threads.find(({ turns }) => turns.includes(turn));
    if (thread === undefined || turn.id === null) return;
    const server = await this.lane.server(thread.server);
    // The turn may just have ended.
    await this.answered(
      'turn/interrupt',
      server.ask('turn/interrupt', { threadId: thread.id, turnId: turn.id }),
    );
  }

  #answerQuestions(): void {
    for (const { server, id } of this.#questions.splice(0)) this.#answer(server, id);
  }

  #answer(server: HeddleProcess, id: string | number): void {
    server.send(
      JSON.stringify({ id, result: { decision: this.random.chance(0.7) ? 'accept' : 'decline' } }),
    );
  }

  #see({ id, method, params }: Message, from: HeddleProcess): void {
    this.#seen++;
    if (id !== undefined && method?.endsWith('/requestApproval')) {
      if (this.#answersLate) this.#questions.push({ server: from, id });
      else this.#answer(from, id);
    }
    if (method === 'item/started') this.#itemStarted(params as ServerNotifications['item/started']);
    this.#wake();
  }

  #itemStarted({ threadId, turnId, item }: ServerNotifications['item/started']): void {
    if (item.type !== 'commandExecution' || !item.command.includes('sleep 1000')) return;
    const turn = this.lane.ledger.threads.get(threadId)?.turns.find(({ id }) => id === turnId);
    if (turn !== undefined) this.#hanging.add(turn);
  }

  #checkError(what: string, message: string): void {
    const fits = this.causes.some(
      ({ names, not }) => names.test(message) && not?.test(message) !== true,
    );
    if (!fits) this.find(`${what} says "${message.slice(0, 400)}"`);
  }

  /** Waits for something that messages and stalls decide. */
  async #until(what: string, isDone: () => boolean): Promise<void> {
    if (isDone()) return;
    const done = new Promise<void>((resolve) => {
      this.#wake = () => isDone() && resolve();
    });
    const crash = new Promise<never>((_resolve, reject) => {
      for (const server of this.lane.servers)
        void server.exit.then(
          () => this.lane.crashed.includes(server) && reject(new Error('a server crashed')),
        );
    });
    await within(TURN_MS_MAX, what, Promise.race([done, crash]));
    this.#wake = () => {};
  }
}
