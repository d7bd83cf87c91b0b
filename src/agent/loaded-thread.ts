import { pathIdentity } from '../base/paths/path-identity.ts';
import { Grants } from '../policy/permissions/grants.ts';
import type { Announcement } from '../protocol/announcement.ts';
import type {
  ResponseItem,
  ReviewTarget,
  ThreadStatus,
  TurnStartParams,
  TurnSteerParams,
} from '../protocol/generated/types.ts';
import {
  noActiveTurnToInterrupt,
  noActiveTurnToSteer,
  turnMismatch,
  turnNotSteerable,
} from '../protocol/turn-errors.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../store/thread-record.ts';
import type { ThreadWriter } from '../store/thread-store.ts';
import type { UserCommand } from '../tools/command/user-command.ts';
import type { InterruptCause } from '../tools/denial.ts';
import type { AgentDeps } from './agent-deps.ts';
import type { AsideAnswer } from './aside/ask-aside.ts';
import { type SampleRequest, sampleThread } from './aside/sample-thread.ts';
import type { ClientQuestions } from './calls/client-questions.ts';
import { Outbox, type Unstored } from './outbox.ts';
import { checkAdditionalContext } from './prompt/additional-context.ts';
import { checkInput } from './prompt/check-input.ts';
import { PromptHistory } from './prompt/prompt-history.ts';
import { RawEvents } from './raw-events.ts';
import { beginReview } from './review/begin-review.ts';
import { SettingsChanges } from './settings/settings-changes.ts';
import type { ThreadConfiguration } from './settings/thread-configuration.ts';
import { ThreadState } from './thread-state.ts';
import type { ActiveTurn } from './turn/active-turn.ts';
import { injectModelItems } from './turn/inject-model-items.ts';
import { joinCommand, openWithCommand } from './turn/join-command.ts';
import { TurnRunner } from './turn/loop/turn-runner.ts';
import { threadParts } from './turn/thread-parts.ts';
import { TurnBeginnings } from './turn/turn-beginnings.ts';
import type { TurnBeginning } from './turn/turn-opening.ts';
import type { ThreadOrigin, TurnPart } from './turn/turn-part.ts';
import { revertedPatch } from './turn/turn-part-deps.ts';
import type { TurnParts } from './turn/turn-parts.ts';
import { type Joined, TurnStarter, type TurnStarterDeps } from './turn/turn-starter.ts';

interface LoadedThreadOptions {
  record: ThreadRecord;
  writer: ThreadWriter;
  configuration: ThreadConfiguration;
  agent: AgentDeps;
  origin: ThreadOrigin;
}

/**
 * A thread in memory: its settings, its status and the turn that runs in it. Requests reach it one
 * at a time.
 */
export class LoadedThread {
  readonly id: string;
  readonly settingsChanges: SettingsChanges;
  readonly #agent: AgentDeps;
  readonly #writer: ThreadWriter;
  readonly #outbox: Outbox;
  readonly #state: ThreadState;
  readonly #history: PromptHistory;
  readonly #parts: TurnParts;
  readonly #runner: TurnRunner;
  readonly #beginnings = new TurnBeginnings();
  readonly #starterDeps: TurnStarterDeps;
  readonly #starter: TurnStarter;
  /** The last turn that a client interrupted. */
  #interruptedTurnId: string | null = null;
  /** True: no due turn begins any more. */
  #isClosing = false;
  readonly #closed = new AbortController();

  constructor({ record, writer, configuration, agent, origin }: LoadedThreadOptions) {
    const state = new ThreadState(record, configuration, agent.agents.usage);
    const grants = new Grants(pathIdentity);
    const raw = new RawEvents(record.id, agent);
    agent.programs.add(state);
    if (configuration.commands.enabled && configuration.commands.shellSnapshot)
      agent.shellExports.begin();
    this.id = record.id;
    this.#state = state;
    this.#writer = writer;
    this.#agent = agent;
    const outbox = new Outbox({
      writer,
      announce: raw.announce,
      onAppended: (entries) => this.#history.add(raw.take(entries)),
    });
    this.#outbox = outbox;
    const { store, promptBudget: budget } = agent;
    const history = new PromptHistory({
      read: (cursor) => store.readModelEntries(record.id, { cursor }),
      outbox,
      budget,
    });
    this.#history = history;
    const parts = threadParts({
      state,
      outbox,
      agent,
      history,
      grants,
      turnBegun: this.turnBegun,
      origin,
    });
    this.#parts = parts;
    this.#runner = new TurnRunner({
      state,
      agent,
      outbox,
      parts,
      grants,
      announce: raw.announce,
      history,
      raw,
    });
    this.#starterDeps = {
      state,
      outbox,
      parts,
      agent,
      granted: () => grants.permissions,
      run: (turn, beginning) => void agent.keepAlive.during(this.#run(turn, beginning)),
    };
    this.#starter = new TurnStarter(this.#starterDeps);
    const update = (patch: ThreadPatch) => this.update(patch);
    this.settingsChanges = new SettingsChanges({
      state,
      beginnings: this.#beginnings,
      serverCwd: agent.cwd,
      update,
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

  /** The running turn; null between turns. */
  get turn(): ActiveTurn | null {
    return this.#state.turn;
  }

  get rootTurnId(): string | null {
    return this.turn?.rootTurnId ?? null;
  }

  /** The part of this class. Throws if there is none. */
  part<Part extends TurnPart>(kind: abstract new (...args: never[]) => Part): Part {
    return this.#parts.get(kind);
  }

  /** The announcements for a client that resumes the thread. */
  get resumeAnnouncements(): Announcement[] {
    return this.#parts.resumed();
  }

  /** Whether a turn runs or is being begun. */
  get isRunning(): boolean {
    return this.turn !== null || this.#beginnings.isBeginning;
  }

  /**
   * State that clients have seen and that is not in the store: unfinished items, and ends of turns
   * that could not be stored.
   */
  get unstored(): Unstored {
    return this.#outbox;
  }

  /** Changes fields of the record, and announces the change. */
  async update(patch: ThreadPatch, announce: Announcement[] = []): Promise<void> {
    await this.#outbox.commit({ patch, announce });
    this.#state.keep(patch);
  }

  /**
   * Stores items for the model. `approval`: what the user has approved. Call the returned function
   * after the request is answered.
   */
  inject(items: ResponseItem[], author: 'approval' | null = null): Promise<() => void> {
    const inject = () =>
      injectModelItems(items, {
        author,
        state: this.#state,
        outbox: this.#outbox,
        firstContext: () => this.#starter.firstContext(),
      });
    return this.turn === null ? this.#beginnings.change(inject) : inject();
  }

  /**
   * Begins a turn, or adds the input to the running one. Stored when this resolves. `onJoining`:
   * the running turn takes the input.
   */
  async startTurn(
    params: TurnStartParams,
    onJoining: () => void,
    author: 'user' | 'parent' = 'user',
  ): Promise<Joined> {
    checkInput(params.input, { required: false });
    checkAdditionalContext(params.additionalContext);
    return this.#beginnings.begin(async () => {
      const settings = this.settingsChanges.overridden(this.settings, params);
      const { turn } = this;
      if (turn?.kind === 'review') throw turnNotSteerable(turn.kind);
      const reservation = turn?.reserveInput() ?? null;
      if (turn !== null && reservation !== null) {
        onJoining();
        return this.#starter.join(turn, reservation, { params, settings, author });
      }
      await turn?.finished;
      return this.#starter.begin({ params, settings, author });
    });
  }

  /** Begins a review. A turn that runs is interrupted first. */
  startReview(target: ReviewTarget): Promise<Joined> {
    return this.#beginnings.begin(async () => {
      const { turn } = this;
      turn?.refuseInput();
      turn?.interrupt('user');
      await turn?.finished;
      return beginReview(this.#starterDeps, target);
    });
  }

  /**
   * Prepares a user command: in the running turn, which then does not end before the command, or in
   * a turn of its own. Returns the function that runs it; call it after the request is answered.
   */
  runUserCommand(command: UserCommand): Promise<() => void> {
    return this.#beginnings.begin(async () => {
      const deps = {
        threadId: this.id,
        calls: this.#runner.calls,
        outbox: this.#outbox,
        agent: this.#agent,
      };
      const { turn } = this;
      const joined = turn === null ? null : joinCommand(deps, turn, command);
      if (joined !== null) return joined;
      await turn?.finished;
      return (
        await this.#starter.begin({
          command: command.text,
          opening: (ownTurn) => openWithCommand(deps, ownTurn, command),
        })
      ).afterAnswer;
    });
  }

  /**
   * Begins the turn that a part wants because a client asked for it. While another turn runs, it
   * begins at that turn's end. Call the returned function after the request is answered.
   */
  beginRequestedTurn(): Promise<() => void> {
    return this.#beginnings.begin(async () => {
      const due = this.turn === null ? this.#parts.due() : null;
      return due === null ? () => {} : (await this.#starter.begin({ due })).afterAnswer;
    });
  }

  /**
   * Begins a turn that a part wants, if no turn runs and no request is beginning a turn or changing
   * the thread.
   */
  beginDueTurn(): void {
    const isFree = !this.#isClosing && this.turn === null && this.#beginnings.none;
    const due = isFree ? this.#parts.due() : null;
    if (due !== null) void this.#beginnings.begin(() => this.#starter.beginDue(due));
  }

  /**
   * Adds input to the running turn, which must be the expected one. `onJoining` is called when it
   * is certain that the turn takes it.
   */
  async steer(params: TurnSteerParams, onJoining: () => void): Promise<Joined> {
    checkInput(params.input, { required: true });
    checkAdditionalContext(params.additionalContext);
    const { turn } = this;
    if (turn === null) throw noActiveTurnToSteer();
    if (turn.id !== params.expectedTurnId) throw turnMismatch(params.expectedTurnId, turn.id);
    if (turn.steerRefusal !== null) throw turnNotSteerable(turn.steerRefusal);
    const reservation = turn.reserveInput();
    if (reservation === null) throw noActiveTurnToSteer();
    onJoining();
    return this.#starter.join(turn, reservation, { params, settings: this.settings });
  }

  /**
   * Closes the turn to input and returns the function that interrupts it. An empty id means the
   * running turn; if none runs, the function does nothing. It also does nothing if this turn was
   * interrupted by a client and has ended. Throws if any other id is not that of the running turn,
   * or if how that turn ends is decided already.
   */
  interrupt(turnId: string): () => void {
    const { turn } = this;
    const isAny = turnId === '';
    if ((turn === null && isAny) || (turn?.id !== turnId && turnId === this.#interruptedTurnId))
      return () => {};
    if (turn === null) throw noActiveTurnToInterrupt();
    if (turn.id !== turnId && !isAny) throw turnMismatch(turnId, turn.id);
    // Until the interrupt, which follows the response, the turn does not end by itself.
    const release = turn.hold();
    const interrupt = turn.acceptInterrupt();
    if (interrupt === null) {
      release?.();
      if (turn.interruptCause === 'user') return () => {};
      throw noActiveTurnToInterrupt();
    }
    this.#interruptedTurnId = turn.id;
    return () => {
      interrupt();
      release?.();
    };
  }

  /**
   * Interrupts the turn that runs or is being begun. Resolves when it has ended, and its end has
   * been announced.
   */
  interruptAndWait(cause: InterruptCause): Promise<void> {
    return this.#stopFor(async () => {}, cause);
  }

  get questions(): ClientQuestions {
    return this.#runner.calls.questions;
  }

  /**
   * Asks the model one question behind the history. Null: the history is too large. Rejects with
   * the store's error.
   */
  sample(request: SampleRequest, signal: AbortSignal): Promise<AsideAnswer | null> {
    return sampleThread(
      { state: this.#state, history: this.#history },
      request,
      AbortSignal.any([signal, this.#closed.signal]),
    );
  }

  /** Resolves when a turn that is being begun has begun. */
  readonly turnBegun = (): Promise<void> => this.#beginnings.settle();

  /** Resolves when the turn that runs or is being begun has ended. */
  async turnEnded(): Promise<void> {
    await this.#beginnings.settle();
    await this.turn?.finished;
  }

  /**
   * Removes this turn and all later ones from the thread. A running turn is interrupted with the
   * cause `user`, once `prepare` has resolved with the change of the record. If that rejects,
   * nothing is changed.
   */
  revert(beforeTurnId: string, prepare: () => Promise<ThreadPatch>): Promise<void> {
    const change = async (patch: ThreadPatch) => {
      await this.#parts.endWork();
      // The revert cuts the log, so entries that are still owed must be stored before.
      await this.#outbox.commit({});
      const whole = {
        ...patch,
        updatedAtMs: this.#agent.clock.now(),
        ...revertedPatch(this.#agent.partKinds, this.record),
      };
      await this.#agent.store.revertThread(this.id, beforeTurnId, whole);
      this.#history.forget();
      // Another status is that of the last turn, which failed and is now removed.
      if (this.#state.status !== 'idle')
        await this.#outbox.announce(
          this.#state.statusStep('idle', this.#agent.clock.now()).announce,
        );
      this.#state.keep(whole);
    };
    // No due turn begins while it is prepared.
    return this.#beginnings.change(async () => {
      const patch = await prepare();
      return this.#stopped(() => change(patch), 'user');
    });
  }

  /**
   * Interrupts the turn, ends all work of the thread and makes a change. No due turn begins after
   * that.
   */
  retire(change: () => Promise<unknown>): Promise<void> {
    return this.#stopFor(async () => {
      await this.#parts.endWork();
      await change();
      this.#isClosing = true;
    });
  }

  /** Interrupts the turn, ends all work of the thread and closes its writer. */
  async close(cause: InterruptCause = 'close'): Promise<void> {
    this.#isClosing = true;
    this.#closed.abort();
    await this.#stopFor(async () => {
      await this.#parts.closed();
      await this.#parts.endWork();
      await this.#outbox.settle();
      this.#history.drop();
      await this.#writer.close();
    }, cause).finally(() => this.#agent.programs.remove(this.#state));
  }

  /** Interrupts the running turn, and makes a change before another turn can begin. */
  #stopFor<T>(change: () => Promise<T>, cause: InterruptCause = 'close'): Promise<T> {
    return this.#beginnings.change(() => this.#stopped(change, cause));
  }

  async #stopped<T>(change: () => Promise<T>, cause: InterruptCause): Promise<T> {
    const { turn } = this;
    turn?.refuseInput();
    turn?.interrupt(cause);
    await turn?.finished;
    await this.#outbox.settle();
    return change();
  }

  async #run(turn: ActiveTurn, beginning: TurnBeginning): Promise<void> {
    await this.#runner.run(turn, beginning);
    if (turn.interruptCause === 'user') this.#interruptedTurnId = turn.id;
    this.#agent.onTurnEnded(this.id, turn.id);
  }
}
