import { resolveLinks } from '../base/follow-path.ts';
import { Grants } from '../policy/permissions/grants.ts';
import type { Announcement } from '../protocol/announcement.ts';
import type { ResponseItem, ThreadStatus, TurnStartParams, TurnSteerParams } from '../protocol/generated/types.ts';
import { noActiveTurnToInterrupt, noActiveTurnToSteer, turnMismatch } from '../protocol/rpc-error.ts';
import type { LogEntry, ThreadPatch, ThreadRecord, ThreadSettings, ThreadWriter } from '../store/thread-store.ts';
import type { UserCommand } from '../tools/command/user-command.ts';
import type { AgentDeps } from './agent-deps.ts';
import { Outbox } from './outbox.ts';
import { checkInput } from './prompt/check-input.ts';
import { type TurnOverrides, withTurnOverrides } from './settings/resolve-settings.ts';
import { settingsChange } from './settings/settings-change.ts';
import type { ThreadConfiguration } from './settings/thread-configuration.ts';
import { ThreadState } from './thread-state.ts';
import type { ActiveTurn } from './turn/active-turn.ts';
import { injectModelItems } from './turn/inject-model-items.ts';
import { joinCommand, openWithCommand } from './turn/join-command.ts';
import type { TurnBeginning } from './turn/run-turn.ts';
import { threadParts } from './turn/thread-parts.ts';
import { TurnBeginnings } from './turn/turn-beginnings.ts';
import type { TurnOpening } from './turn/turn-deps.ts';
import { type InterruptCause, revertedPatch, type TurnPart } from './turn/turn-part.ts';
import type { TurnParts } from './turn/turn-parts.ts';
import { TurnRunner } from './turn/turn-runner.ts';
import { type Joined, TurnStarter } from './turn/turn-starter.ts';

interface LoadedThreadOptions {
  record: ThreadRecord;
  writer: ThreadWriter;
  configuration: ThreadConfiguration;
  agent: AgentDeps;
}

/** A thread in memory: its settings, its status and the turn that runs in it. Requests reach it one at a time. */
export class LoadedThread {
  readonly id: string;
  readonly #agent: AgentDeps;
  readonly #writer: ThreadWriter;
  readonly #outbox: Outbox;
  readonly #state: ThreadState;
  readonly #parts: TurnParts;
  readonly #runner: TurnRunner;
  readonly #beginnings = new TurnBeginnings();
  readonly #starter: TurnStarter;
  /** The last turn that a client has interrupted. */
  #interruptedTurnId: string | null = null;
  /** No turn begins by itself any more. */
  #isClosing = false;

  constructor({ record, writer, configuration, agent }: LoadedThreadOptions) {
    const state = new ThreadState(record, configuration);
    const grants = new Grants(resolveLinks);
    const announce = ({ method, params }: Announcement) => agent.publisher.publish({ threadId: record.id }, method, params);
    this.id = record.id;
    this.#state = state;
    this.#writer = writer;
    this.#agent = agent;
    const outbox = new Outbox({ writer, announce, onAppended: (entries) => this.#runner.appended(entries) });
    this.#outbox = outbox;
    const parts = threadParts({ state, outbox, agent, turnBegun: () => this.turnBegun() });
    this.#parts = parts;
    this.#runner = new TurnRunner({ state, agent, outbox, parts, grants, announce });
    this.#starter = new TurnStarter({
      state,
      outbox,
      parts,
      agent,
      granted: () => grants.permissions,
      run: (turn, beginning) => void agent.keepAlive.during(this.#run(turn, beginning)),
    });
  }

  get record(): ThreadRecord {
    return this.#state.record;
  }

  get settings(): ThreadSettings {
    return this.#state.settings;
  }

  get configuration(): ThreadConfiguration {
    return this.#state.configuration;
  }

  get status(): ThreadStatus {
    return this.#state.shownStatus;
  }

  /** The turn that runs; null between turns. */
  get turn(): ActiveTurn | null {
    return this.#state.turn;
  }

  /** The part of a class. */
  part<Part extends TurnPart>(kind: abstract new (...args: never[]) => Part): Part {
    return this.#parts.get(kind);
  }

  /** What a client is told that resumes the thread. */
  get resumeNews(): Announcement[] {
    return this.#parts.resumed();
  }

  /** Whether a turn runs or is being begun. */
  get isRunning(): boolean {
    return this.turn !== null || this.#beginnings.isBeginning;
  }

  /** Ends of turns that were announced and could not be stored. */
  get owed(): readonly LogEntry[] {
    return this.#outbox.owed;
  }

  /** Changes fields that are not part of the log, and tells clients. */
  async update(patch: ThreadPatch, announce: Announcement[] = []): Promise<void> {
    await this.#outbox.commit({ patch, announce });
    this.#state.keep(patch);
  }

  /** Takes other settings, and what is made anew from the configuration with them, unless a turn runs. */
  reconfigure(
    configure: (last: ThreadSettings) => Promise<{ settings: ThreadSettings; configuration: ThreadConfiguration }>,
  ): Promise<void> {
    return this.#beginnings.change(async () => {
      if (this.turn !== null) return;
      const { settings, configuration } = await configure(this.settings);
      await this.update({ settings });
      this.#state.configuration = configuration;
    });
  }

  /** Changes what the next turn runs with; one that runs goes on with what it has. Gives what tells clients of it. */
  changeSettings(overrides: TurnOverrides): Promise<Announcement[]> {
    return this.#beginnings.change(async () => {
      const settings = this.#overridden(this.settings, overrides);
      const news = settingsChange(this.id, this.settings, settings);
      if (news.length > 0) await this.update({ settings });
      return news;
    });
  }

  /** Changes what a turn that runs asks the model with next, and nothing beyond the turn. False: that turn does not run. */
  changeTurn(turnId: string, overrides: TurnOverrides): boolean {
    const { turn } = this;
    if (turn?.id !== turnId) return false;
    turn.settings = this.#overridden(turn.settings, overrides);
    return true;
  }

  /** Adds to what the model reads. It is stored when this resolves; what that gives is to be called once the answer has left. */
  inject(items: ResponseItem[]): Promise<() => void> {
    return injectModelItems(items, { turn: this.turn, outbox: this.#outbox });
  }

  /** Begins a turn, or joins the one that runs. What the user gave is stored when this resolves. */
  async startTurn(params: TurnStartParams): Promise<Joined> {
    checkInput(params.input, { required: false });
    return this.#beginnings.begin(async () => {
      const settings = this.#overridden(this.settings, params);
      const { turn } = this;
      const place = turn?.reserveInput() ?? null;
      if (turn !== null && place !== null) return this.#starter.join(turn, { place, params, settings });
      await turn?.finished;
      return this.#starter.begin({ params, settings });
    });
  }

  /**
   * A command of the user's: in the turn that runs, which then does not end before it, else in a turn of its own. Gives what
   * runs it, to be called once the request is answered.
   */
  runUserCommand(command: UserCommand): Promise<() => void> {
    return this.#beginnings.begin(async () => {
      const deps = { threadId: this.id, calls: this.#runner.calls, outbox: this.#outbox, agent: this.#agent };
      const { turn } = this;
      const joined = turn === null ? null : joinCommand(deps, turn, command);
      if (joined !== null) return joined;
      await turn?.finished;
      const opening: TurnOpening = (own) => openWithCommand(deps, own, command);
      const begun = await this.#starter.begin({ opening });
      return begun.afterAnswer;
    });
  }

  /** Begins the turn that one of its parts wants, if nothing runs and no request is about to begin or change anything. */
  beginDueTurn(): void {
    const isFree = !this.#isClosing && this.turn === null && this.#beginnings.none;
    const due = isFree ? this.#parts.due() : null;
    if (due === null) return;
    void this.#beginnings.begin(() => this.#starter.beginDue(due));
  }

  /** Adds input to the turn that runs, which must be the expected one. */
  async steer(params: TurnSteerParams): Promise<Joined> {
    checkInput(params.input, { required: true });
    const { turn } = this;
    if (turn === null) throw noActiveTurnToSteer();
    if (turn.id !== params.expectedTurnId) throw turnMismatch(params.expectedTurnId, turn.id);
    const place = turn.reserveInput();
    if (place === null) throw noActiveTurnToSteer();
    return this.#starter.join(turn, { place, params, settings: this.settings });
  }

  /**
   * Gives what interrupts this turn, or with an empty id whatever runs. What a client sends behind that is not joined to it
   * any more. Of one that has been interrupted nothing is left to do. Throws where another turn runs, or none does.
   */
  interrupt(turnId: string): () => void {
    const { turn } = this;
    const isAny = turnId === '';
    if ((turn === null && isAny) || (turn?.id !== turnId && turnId === this.#interruptedTurnId)) return () => {};
    if (turn === null) throw noActiveTurnToInterrupt();
    if (turn.id !== turnId && !isAny) throw turnMismatch(turnId, turn.id);
    turn.refuseInput();
    this.#interruptedTurnId = turn.id;
    return () => turn.interrupt('user');
  }

  /** Resolves when a turn that is being begun has begun. */
  turnBegun(): Promise<void> {
    return this.#beginnings.settle();
  }

  /** Resolves when the turn that runs, or is being begun, has ended. */
  async turnEnded(): Promise<void> {
    await this.#beginnings.settle();
    await this.turn?.finished;
  }

  /** Ends the turn that runs, as interrupted, and makes a change before another can begin. */
  stopFor<T>(change: () => Promise<T>, cause: InterruptCause = 'close'): Promise<T> {
    return this.#beginnings.change(async () => {
      const { turn } = this;
      turn?.refuseInput();
      turn?.interrupt(cause);
      await turn?.finished;
      await this.#outbox.settle();
      return change();
    });
  }

  /** Takes this turn and all after it out of the thread. The user's word: parts wait for the next input. */
  revert(beforeTurnId: string, patch: ThreadPatch): Promise<void> {
    const change = async () => {
      await this.#parts.endWork();
      // The log is cut here: entries that are still owed must be in it before.
      await this.#outbox.commit({});
      const whole = { ...patch, updatedAtMs: this.#agent.clock.now(), ...revertedPatch(this.#agent.partKinds, this.record) };
      await this.#agent.store.revertThread(this.id, beforeTurnId, whole);
      this.#runner.forgetHistory();
      if (this.#state.status !== 'idle') {
        // The last turn failed, and is gone.
        const { announce } = this.#state.statusStep('idle', this.#agent.clock.now());
        await this.#outbox.announce(announce);
      }
      this.#state.keep(whole);
    };
    return this.stopFor(change, 'user');
  }

  /** Ends the turn and all work of the thread, makes a change, and lets no turn begin by itself after it. */
  retire(change: () => Promise<unknown>): Promise<void> {
    return this.stopFor(async () => {
      await this.#parts.endWork();
      await change();
      this.#isClosing = true;
    });
  }

  /** Ends what runs and gives up the thread. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.stopFor(async () => {
      await this.#parts.endWork();
      await this.#outbox.settle();
      await this.#writer.close();
    });
  }

  async #run(turn: ActiveTurn, beginning: TurnBeginning): Promise<void> {
    await this.#runner.run(turn, beginning);
    this.#agent.onTurnEnded(this.id);
  }

  #overridden(settings: ThreadSettings, overrides: TurnOverrides): ThreadSettings {
    return withTurnOverrides(settings, overrides, { serverCwd: this.#agent.cwd, config: this.configuration.config });
  }
}
