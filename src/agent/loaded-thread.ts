import type { ModelRequest } from '../model/model.ts';
import type { Announcement } from '../protocol/announcement.ts';
import type { ResponseItem, ThreadStatus, TokenUsageBreakdown, TurnStartParams, TurnSteerParams } from '../protocol/generated/types.ts';
import { noActiveTurnToInterrupt, noActiveTurnToSteer, turnMismatch } from '../protocol/rpc-error.ts';
import type { LogEntry, ThreadPatch, ThreadRecord, ThreadSettings, ThreadWriter } from '../store/thread-store.ts';
import type { CommandSessions } from '../tools/command/sessions/command-sessions.ts';
import type { UserCommand } from '../tools/command/user-command.ts';
import type { AgentDeps } from './agent-deps.ts';
import { ThreadTools } from './calls/thread-tools.ts';
import { awaitingUser } from './goal/goal-change.ts';
import { GoalKeeper } from './goal/goal-keeper.ts';
import { Outbox, type Step } from './outbox.ts';
import { checkInput } from './prompt/check-input.ts';
import { modelRequest } from './prompt/model-request.ts';
import { PromptHistory } from './prompt/prompt-history.ts';
import { type TurnOverrides, withTurnOverrides } from './settings/resolve-settings.ts';
import { settingsChange } from './settings/settings-change.ts';
import type { ThreadConfiguration } from './settings/thread-configuration.ts';
import { ThreadState } from './thread-state.ts';
import type { ActiveTurn } from './turn/active-turn.ts';
import { injectModelItems } from './turn/inject-model-items.ts';
import { joinCommand, openWithCommand } from './turn/join-command.ts';
import { runTurn } from './turn/run-turn.ts';
import { TurnBeginnings } from './turn/turn-beginnings.ts';
import type { TurnDeps, TurnOpening } from './turn/turn-deps.ts';
import { type Joined, TurnStarter } from './turn/turn-starter.ts';

/** A thread in memory: its settings, its status and the turn that runs in it. Requests reach it one at a time. */
export class LoadedThread {
  readonly id: string;
  readonly goal: GoalKeeper;
  readonly #deps: AgentDeps;
  readonly #writer: ThreadWriter;
  readonly #outbox: Outbox;
  readonly #state: ThreadState;
  readonly #beginnings = new TurnBeginnings();
  /** The turn that a client has interrupted last. */
  #interruptedTurnId: string | null = null;
  readonly #starter: TurnStarter;
  readonly #history: PromptHistory;
  readonly #tools: ThreadTools;

  constructor({
    record,
    writer,
    configuration,
    deps,
  }: { record: ThreadRecord; writer: ThreadWriter; configuration: ThreadConfiguration; deps: AgentDeps }) {
    const state = new ThreadState(record, configuration);
    this.id = record.id;
    this.#state = state;
    this.#writer = writer;
    this.#deps = deps;
    this.#outbox = new Outbox({
      writer,
      announce: (announcement) => this.#announce(announcement),
      onAppended: (entries) => this.#history.add(entries),
    });
    this.#history = new PromptHistory(() => deps.store.readModelItems(this.id), this.#outbox);
    this.goal = new GoalKeeper({
      clock: deps.clock,
      outbox: this.#outbox,
      enabled: () => state.configuration.goals,
      record: () => state.record,
      begun: () => this.#beginnings.settle(),
      keep: (patch) => state.keep(patch),
    });
    this.#tools = new ThreadTools({
      state,
      deps,
      goal: this.goal,
      outbox: this.#outbox,
      announce: (announcement) => this.#announce(announcement),
    });
    this.#starter = new TurnStarter({
      state,
      outbox: this.#outbox,
      goal: this.goal,
      deps,
      granted: () => this.#tools.granted,
      run: (turn, opening) => void deps.keepAlive.during(this.#run(turn, opening)),
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

  /** The commands that run in the thread. */
  get commands(): CommandSessions {
    return this.#tools.commands;
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
      return this.#starter.begin(params, { settings });
    });
  }

  /**
   * A command of the user's: in the turn that runs, which then does not end before it, else in a turn of its own. Gives what
   * runs it, to be called once the request is answered.
   */
  runUserCommand(command: UserCommand): Promise<() => void> {
    return this.#beginnings.begin(async () => {
      const host = { tools: this.#tools, outbox: this.#outbox, deps: this.#deps };
      const { turn } = this;
      const joined = turn === null ? null : joinCommand(host, turn, command);
      if (joined !== null) return joined;
      await turn?.finished;
      const before: TurnOpening = (own) => openWithCommand(host, own, command);
      const begun = await this.#starter.begin({ threadId: this.id, input: [] }, { settings: this.settings, before });
      return begun.afterAnswer;
    });
  }

  /** Begins a turn for the goal where one is due, nothing runs and no request is about to begin or change anything. */
  continueGoal(): void {
    const opening = this.turn === null && this.#beginnings.none ? this.goal.nextTurn() : null;
    if (opening === null) return;
    void this.#beginnings.begin(() =>
      this.#starter.begin({ threadId: this.id, input: [] }, { settings: this.settings, opening }).then(
        ({ afterAnswer }) => afterAnswer(),
        (error: unknown) => this.goal.notBegun(error, this.#deps.log),
      ),
    );
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
    return () => turn.interrupt({ byUser: true });
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
  stopFor<T>(change: () => Promise<T>, { byUser = false } = {}): Promise<T> {
    return this.#beginnings.change(async () => {
      const { turn } = this;
      turn?.refuseInput();
      turn?.interrupt({ byUser });
      await turn?.finished;
      await this.#outbox.settle();
      return change();
    });
  }

  /** Goes on as if this turn and all that came after it had never been. A goal waits for the user: who goes back has a say. */
  revert(beforeTurnId: string, patch: ThreadPatch): Promise<void> {
    const change = async () => {
      await this.endCommands();
      // What is still owed to the log has to be in it by now: it must not come behind the cut.
      await this.#outbox.commit({});
      const whole = { ...patch, updatedAtMs: this.#deps.clock.now(), ...awaitingUser(this.record.goal) };
      await this.#deps.store.revertThread(this.id, beforeTurnId, whole);
      this.#history.forget();
      if (this.#state.status !== 'idle') {
        // The last turn failed, and is gone.
        const { announce } = this.#statusStep('idle');
        await this.#outbox.announce(announce);
      }
      this.#state.keep(whole);
    };
    return this.stopFor(change, { byUser: true });
  }

  /** Kills all commands that run in the thread. */
  endCommands(): Promise<void> {
    return this.#tools.close();
  }

  /** Ends what runs and gives up the thread. */
  async close(): Promise<void> {
    this.goal.close();
    await this.stopFor(async () => {
      await this.#tools.close();
      await this.#outbox.settle();
      await this.#writer.close();
    });
  }

  async #run(turn: ActiveTurn, opening: TurnOpening | null): Promise<void> {
    await runTurn(this.#host(), turn, opening);
    if (this.turn === turn) this.#state.turn = null;
    this.#deps.onTurnEnded(this.id);
  }

  async #request(turn: ActiveTurn): Promise<ModelRequest> {
    const history = await this.#history.list();
    this.#tools.know(history);
    return modelRequest(turn, { threadId: this.id, configuration: this.configuration, history, tools: this.#tools.list() });
  }

  #overridden(settings: ThreadSettings, overrides: TurnOverrides): ThreadSettings {
    return withTurnOverrides(settings, overrides, { serverCwd: this.#deps.cwd, config: this.configuration.config });
  }

  #host(): TurnDeps {
    const { clock, log, ids, publisher } = this.#deps;
    return {
      threadId: this.id,
      model: this.configuration.model,
      tools: () => this.#tools.list(),
      toolContext: (turn, callId) => this.#tools.context(turn, callId),
      endTools: (turn) => this.#tools.endTurn(turn),
      runningOn: (turnId) => this.#tools.runningOn(turnId),
      outbox: this.#outbox,
      goal: this.goal,
      clock,
      log,
      shownReasoning: this.configuration.shownReasoning,
      newId: () => ids.next(),
      announce: (announcement) => this.#announce(announcement),
      drained: () => publisher.drained({ threadId: this.id }),
      tokenUsage: () => this.record.tokenUsage?.usage ?? null,
      request: (turn) => this.#request(turn),
      tokensStep: (turn, usage) => this.#tokensStep(turn, usage),
      statusStep: (status) => this.#statusStep(status),
    };
  }

  #tokensStep(turn: ActiveTurn, last: TokenUsageBreakdown): Step {
    const tokens = this.#state.tokensStep(turn.id, last);
    const goal = this.goal.charge(turn.id, last);
    return { patch: { ...tokens.patch, ...goal.patch }, announce: [...tokens.announce, ...goal.announce] };
  }

  #statusStep(status: ThreadState['status']) {
    return this.#state.statusStep(status, this.#deps.clock.now());
  }

  #announce({ method, params }: Announcement): void {
    this.#deps.publisher.publish({ threadId: this.id }, method, params);
  }
}
