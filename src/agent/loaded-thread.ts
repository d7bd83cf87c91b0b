import type { JsonValue } from '../base/json.ts';
import type { ModelRequest } from '../model/model.ts';
import type { Announcement } from '../protocol/announcement.ts';
import { noActiveTurnToInterrupt, noActiveTurnToSteer, turnMismatch } from '../protocol/errors.ts';
import type {
  ResponseItem,
  ThreadStatus,
  TokenUsageBreakdown,
  Turn,
  TurnStartParams,
  TurnSteerParams,
} from '../protocol/generated/types.ts';
import type { LogEntry, ThreadPatch, ThreadRecord, ThreadSettings, ThreadWriter } from '../store/store.ts';
import { goalTools } from '../tools/goal-tools.ts';
import type { Tool } from '../tools/tool.ts';
import { updatePlan } from '../tools/update-plan.ts';
import { ActiveTurn, type InputPlace, type TurnInput } from './active-turn.ts';
import type { AgentDeps } from './agent-deps.ts';
import { GoalKeeper } from './goal-keeper.ts';
import { injectItems } from './inject-items.ts';
import { modelRequest } from './model-request.ts';
import { Outbox, type Step } from './outbox.ts';
import { PromptHistory } from './prompt-history.ts';
import { runTurn } from './run-turn.ts';
import { settingsChange } from './settings-change.ts';
import type { ThreadRuntime } from './thread-runtime.ts';
import { type TurnOverrides, withTurnOverrides } from './thread-settings.ts';
import { addUsage } from './token-usage.ts';
import { TurnBeginnings } from './turn-beginnings.ts';
import type { TurnHost } from './turn-host.ts';
import { inputEntries, modelEntries, turnInput } from './turn-input.ts';
import { turnView } from './turn-view.ts';
import { checkInput, previewOf } from './user-input.ts';

/** A request's part in a turn: the answer, and what to do once the answer has left. */
export interface Joined {
  turn: Turn;
  afterAnswer: () => void;
}

/** A thread in memory: its settings, its status and the turn that runs in it. Requests reach it one at a time. */
export class LoadedThread {
  readonly id: string;
  readonly goal: GoalKeeper;
  readonly #deps: AgentDeps;
  readonly #writer: ThreadWriter;
  readonly #outbox: Outbox;
  #runtime: ThreadRuntime;
  #record: ThreadRecord;
  #status: 'idle' | 'active' | 'systemError' = 'idle';
  #turn: ActiveTurn | null = null;
  readonly #beginnings = new TurnBeginnings();
  readonly #history: PromptHistory;

  constructor({ record, writer, runtime, deps }: { record: ThreadRecord; writer: ThreadWriter; runtime: ThreadRuntime; deps: AgentDeps }) {
    this.id = record.id;
    this.#record = record;
    this.#runtime = runtime;
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
      enabled: () => this.#runtime.goals,
      record: () => this.#record,
      begun: () => this.#beginnings.settle(),
      keep: (goal) => {
        this.#record = { ...this.#record, goal };
      },
    });
  }

  get record(): ThreadRecord {
    return this.#record;
  }

  get settings(): ThreadSettings {
    return this.#record.settings;
  }

  get runtime(): ThreadRuntime {
    return this.#runtime;
  }

  get status(): ThreadStatus {
    return this.#status === 'active' ? { type: 'active', activeFlags: [] } : { type: this.#status };
  }

  /** The turn that runs; null between turns. */
  get turn(): ActiveTurn | null {
    return this.#turn;
  }

  /** Ends of turns that were announced and could not be stored. */
  get owed(): readonly LogEntry[] {
    return this.#outbox.owed;
  }

  /** Changes fields that are not part of the log, and tells clients. */
  async update(patch: ThreadPatch, announce: Announcement[] = []): Promise<void> {
    await this.#outbox.commit({ patch, announce });
    this.#record = { ...this.#record, ...patch };
  }

  /** Takes other settings, and what was made anew from the configuration with them, while no turn runs. */
  async reconfigure(settings: ThreadSettings, runtime: ThreadRuntime): Promise<void> {
    await this.update({ settings });
    this.#runtime = runtime;
  }

  /** Changes what the next turn runs with; one that runs goes on with what it has. Gives what tells clients of it. */
  async changeSettings(overrides: TurnOverrides): Promise<Announcement[]> {
    const settings = withTurnOverrides(this.settings, overrides, this.#deps.cwd);
    const news = settingsChange(this.id, this.settings, settings);
    if (news.length > 0) await this.update({ settings });
    return news;
  }

  /** Changes what a turn that runs asks the model with next, and nothing beyond the turn. False: that turn does not run. */
  changeTurn(turnId: string, overrides: TurnOverrides): boolean {
    if (this.#turn?.id !== turnId) return false;
    this.#turn.settings = withTurnOverrides(this.#turn.settings, overrides, this.#deps.cwd);
    return true;
  }

  /** Adds to what the model reads. It is stored when this resolves; what that gives is to be called once the answer has left. */
  inject(items: ResponseItem[]): Promise<() => void> {
    return injectItems(items, { turn: this.#turn, outbox: this.#outbox });
  }

  /** Begins a turn, or joins the one that runs. What the user gave is stored when this resolves. */
  async startTurn(params: TurnStartParams): Promise<Joined> {
    checkInput(params.input, { required: false });
    return this.#beginnings.requested(async () => {
      const settings = withTurnOverrides(this.settings, params, this.#deps.cwd);
      const turn = this.#turn;
      const place = turn?.takePlace() ?? null;
      if (turn !== null && place !== null) return this.#join(turn, { place, params, settings });
      await turn?.finished;
      return this.#begin(params, { settings });
    });
  }

  /** Begins a turn for the goal where one is due, nothing runs and no request is about to begin one. */
  continueGoal(): void {
    const opening = this.#turn === null && this.#beginnings.none ? this.goal.nextTurn() : null;
    if (opening === null) return;
    this.#beginnings.alone(() =>
      this.#begin({ threadId: this.id, input: [] }, { settings: this.settings, opening }).then(
        ({ afterAnswer }) => afterAnswer(),
        (error: unknown) => this.goal.notBegun(error, this.#deps.log),
      ),
    );
  }

  /** Adds input to the turn that runs, which must be the expected one. */
  async steer(params: TurnSteerParams): Promise<Joined> {
    checkInput(params.input, { required: true });
    const turn = this.#turn;
    if (turn === null) throw noActiveTurnToSteer();
    if (turn.id !== params.expectedTurnId) throw turnMismatch(params.expectedTurnId, turn.id);
    const place = turn.takePlace();
    if (place === null) throw noActiveTurnToSteer();
    return this.#join(turn, { place, params, settings: this.settings });
  }

  /** Checks that this turn runs, and gives what interrupts it. What a client sends behind that is not joined to it any more. */
  interrupt(turnId: string): () => void {
    const turn = this.#turn;
    if (turn === null) throw noActiveTurnToInterrupt();
    if (turn.id !== turnId) throw turnMismatch(turnId, turn.id);
    turn.refuseInput();
    return () => turn.interrupt();
  }

  /** Ends the turn that runs, as interrupted. */
  async endTurn(): Promise<void> {
    await this.#beginnings.settle();
    const turn = this.#turn;
    turn?.refuseInput();
    turn?.interrupt();
    await turn?.finished;
    await this.#outbox.settle();
  }

  /** Goes on, while no turn runs, as if this turn and all that came after it had never been. */
  async revert(beforeTurnId: string, patch: ThreadPatch): Promise<void> {
    // What is still owed to the log has to be in it by now: it must not come behind the cut.
    await this.#outbox.commit({});
    await this.#deps.store.revertThread(this.id, beforeTurnId, patch);
    this.#record = { ...this.#record, ...patch };
    this.#history.forget();
    // If the last turn failed, it is gone.
    this.#status = 'idle';
  }

  /** Ends what runs and gives up the thread. */
  async close(): Promise<void> {
    this.goal.close();
    await this.endTurn();
    await this.#writer.close();
  }

  /** `opening`: what the model reads first in a turn that nobody asked for. */
  async #begin(
    params: TurnStartParams,
    { settings, opening = null }: { settings: ThreadSettings; opening?: ResponseItem[] | null },
  ): Promise<Joined> {
    const { clock, ids } = this.#deps;
    const now = clock.now();
    const turnId = ids.next();
    const { told, messages } = await this.#runtime.instructions.news({ settings, told: this.#record.told, now });
    const input = await turnInput(params, { settings, instructions: this.#runtime.instructions, ids, atMs: now });
    const patch: ThreadPatch = { listed: true, updatedAtMs: now, recencyAtMs: now, told };
    if (settings !== this.settings) patch.settings = settings;
    if (this.#record.preview === '') patch.preview = previewOf(params.input);
    await this.#outbox.commit({
      entries: [
        { kind: 'turnStarted', turnId, startedAtMs: now },
        ...modelEntries(turnId, [...messages, ...(opening ?? [])]),
        ...inputEntries(turnId, input),
      ],
      patch: { ...patch, ...(opening === null ? this.goal.heard() : {}) },
    });
    const news = settingsChange(this.id, this.settings, settings);
    this.#record = { ...this.#record, ...patch };
    const turnSettings = params.serviceTierForTurn ? { ...settings, serviceTier: params.serviceTierForTurn } : settings;
    const turn = new ActiveTurn({
      id: turnId,
      startedAtMs: now,
      settings: turnSettings,
      outputSchema: (params.outputSchema ?? null) as JsonValue,
    });
    if (input !== null) turn.takePlace()?.deliver(input);
    this.#turn = turn;
    this.goal.turnBegan(turnId, { alone: opening !== null });
    this.#status = 'active';
    const afterAnswer = () => {
      for (const announcement of news) this.#announce(announcement);
      void this.#deps.keepAlive.during(this.#run(turn));
    };
    return { turn: turnView({ id: turnId, status: 'inProgress', startedAtMs: null }), afterAnswer };
  }

  async #run(turn: ActiveTurn): Promise<void> {
    await runTurn(this.#host(), turn);
    if (this.#turn === turn) this.#turn = null;
    this.#deps.onTurnEnded(this.id);
  }

  async #join(
    turn: ActiveTurn,
    { place, params, settings }: { place: InputPlace; params: TurnStartParams | TurnSteerParams; settings: ThreadSettings },
  ): Promise<Joined> {
    const { clock, ids } = this.#deps;
    let input: TurnInput | null;
    try {
      input = await turnInput(params, { settings, instructions: this.#runtime.instructions, ids, atMs: clock.now() });
      // What the model was saying has ended here: what was held comes before the input that ended it.
      const held: LogEntry[] = turn.isHolding ? [{ kind: 'heldRead', turnId: turn.id }] : [];
      await this.#outbox.commit({ entries: [...held, ...inputEntries(turn.id, input)], patch: { settings, ...this.goal.heard() } });
    } catch (error) {
      place.release();
      throw error;
    }
    const news = settingsChange(this.id, this.settings, settings);
    this.#record = { ...this.#record, settings };
    const afterAnswer = () => {
      for (const announcement of news) this.#announce(announcement);
      if (input === null) place.release();
      else place.deliver(input);
    };
    return { turn: turnView({ id: turn.id, status: 'inProgress', startedAtMs: turn.startedAtMs }), afterAnswer };
  }

  async #request(turn: ActiveTurn): Promise<ModelRequest> {
    const history = await this.#history.list();
    return modelRequest(turn, { threadId: this.id, runtime: this.#runtime, history, tools: this.#tools() });
  }

  #tools(): Tool[] {
    return this.goal.available ? [updatePlan, ...goalTools(this.goal)] : [updatePlan];
  }

  #host(): TurnHost {
    const { clock, log, ids, publisher } = this.#deps;
    return {
      threadId: this.id,
      model: this.#runtime.model,
      tools: this.#tools(),
      outbox: this.#outbox,
      goal: this.goal,
      clock,
      log,
      showRawReasoning: this.#runtime.showRawReasoning,
      newId: () => ids.next(),
      announce: (announcement) => this.#announce(announcement),
      drained: () => publisher.drained({ threadId: this.id }),
      request: (turn) => this.#request(turn),
      tokensStep: (turn, usage) => this.#tokensStep(turn, usage),
      statusStep: (status) => this.#statusStep(status),
    };
  }

  #tokensStep(turn: ActiveTurn, last: TokenUsageBreakdown): Step {
    const before = this.#record.tokenUsage?.usage.total ?? null;
    const usage = { total: addUsage(before, last), last, modelContextWindow: this.#runtime.contextWindow };
    const patch: ThreadPatch = { tokenUsage: { turnId: turn.id, usage } };
    this.#record = { ...this.#record, ...patch };
    const goal = this.goal.charge(turn.id, last);
    const params = { threadId: this.id, turnId: turn.id, tokenUsage: usage };
    return { patch: { ...patch, ...goal.patch }, announce: [{ method: 'thread/tokenUsage/updated', params }, ...goal.announce] };
  }

  #statusStep(status: 'active' | 'idle' | 'systemError'): Step {
    this.#status = status;
    const updatedAtMs = this.#deps.clock.now();
    this.#record = { ...this.#record, updatedAtMs };
    return {
      ...(status === 'active' ? {} : { patch: { updatedAtMs } }),
      announce: [{ method: 'thread/status/changed', params: { threadId: this.id, status: this.status } }],
    };
  }

  #announce({ method, params }: Announcement): void {
    this.#deps.publisher.publish({ threadId: this.id }, method, params);
  }
}
