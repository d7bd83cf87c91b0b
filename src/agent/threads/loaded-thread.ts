import { pathIdentity } from '../../base/paths/path-identity.ts';
import { Grants } from '../../policy/permissions/grants.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadStatus } from '../../protocol/generated/types.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { ThreadWriter } from '../../store/thread-store.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { AsideAnswer } from '../aside/ask-aside.ts';
import { type SampleRequest, sampleThread } from '../aside/sample-thread.ts';
import type { ClientQuestions } from '../calls/client-questions.ts';
import { Outbox, type Unstored } from '../outbox/outbox.ts';
import { RawEvents } from '../outbox/raw-events.ts';
import { PromptHistory } from '../prompt/prompt-history.ts';
import type { Services } from '../services.ts';
import { SettingsChanges } from '../settings/settings-changes.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import { ThreadState } from '../thread-state.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import { TurnRunner } from '../turn/loop/turn-runner.ts';
import { threadParts } from '../turn/thread-parts.ts';
import { TurnBeginnings } from '../turn/turn-beginnings.ts';
import type { ThreadOrigin, TurnPart } from '../turn/turn-part.ts';
import { revertedPatch, type TurnPartKind } from '../turn/turn-part-deps.ts';
import type { TurnParts } from '../turn/turn-parts.ts';
import { ThreadTurns } from './thread-turns.ts';

export interface LoadedThreadOptions {
  record: ThreadRecord;
  writer: ThreadWriter;
  configuration: ThreadConfiguration;
  services: Services;
  /** The kinds of its parts, in the order in which they act. */
  kinds: readonly TurnPartKind[];
  origin: ThreadOrigin;
  /** Called after a turn has ended and its end has been announced. */
  onTurnEnded(threadId: string, turnId: string): void;
}

/**
 * A thread in memory: its settings, its status and the turn that runs in it. Requests reach it one
 * at a time.
 */
export class LoadedThread {
  readonly id: string;
  readonly settingsChanges: SettingsChanges;
  readonly turns: ThreadTurns;
  readonly #services: Services;
  readonly #kinds: readonly TurnPartKind[];
  readonly #writer: ThreadWriter;
  readonly #outbox: Outbox;
  readonly #state: ThreadState;
  readonly #history: PromptHistory;
  readonly #parts: TurnParts;
  readonly #runner: TurnRunner;
  readonly #beginnings = new TurnBeginnings();
  readonly #closed = new AbortController();

  constructor({
    record,
    writer,
    configuration,
    services,
    kinds,
    origin,
    onTurnEnded,
  }: LoadedThreadOptions) {
    const state = new ThreadState(record, configuration, services.agents.usage);
    const grants = new Grants(pathIdentity);
    const raw = new RawEvents(record.id, { clients: services.clients, ids: services.runtime.ids });
    services.programs.add(state);
    if (configuration.commands.enabled && configuration.commands.shellSnapshot)
      services.machine.shellExports.begin();
    this.id = record.id;
    this.#state = state;
    this.#writer = writer;
    this.#services = services;
    this.#kinds = kinds;
    const outbox = new Outbox({
      writer,
      announce: raw.announce,
      onAppended: (entries) => this.#history.add(raw.take(entries)),
    });
    this.#outbox = outbox;
    const history = new PromptHistory({
      read: (cursor) => services.store.readModelEntries(record.id, { cursor }),
      outbox,
      budget: services.limits.promptBudget,
    });
    this.#history = history;
    const parts = threadParts({
      state,
      outbox,
      services,
      kinds,
      history,
      grants,
      turnBegun: this.turnBegun,
      origin,
    });
    this.#parts = parts;
    this.#runner = new TurnRunner({
      state,
      services,
      outbox,
      parts,
      grants,
      announce: raw.announce,
      history,
      raw,
    });
    const update = (patch: ThreadPatch) => this.update(patch);
    this.settingsChanges = new SettingsChanges({
      state,
      beginnings: this.#beginnings,
      serverCwd: services.machine.cwd,
      update,
    });
    this.turns = new ThreadTurns({
      state,
      outbox,
      parts,
      services,
      granted: () => grants.permissions,
      runner: this.#runner,
      beginnings: this.#beginnings,
      settingsChanges: this.settingsChanges,
      onTurnEnded,
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
        updatedAtMs: this.#services.runtime.clock.now(),
        ...revertedPatch(this.#kinds, this.record),
      };
      await this.#services.store.revertThread(this.id, beforeTurnId, whole);
      this.#history.forget();
      // Another status is that of the last turn, which failed and is now removed.
      if (this.#state.status !== 'idle')
        await this.#outbox.announce(
          this.#state.statusStep('idle', this.#services.runtime.clock.now()).announce,
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
      this.turns.endDue();
    });
  }

  /** Interrupts the turn, ends all work of the thread and closes its writer. */
  async close(cause: InterruptCause = 'close'): Promise<void> {
    this.turns.endDue();
    this.#closed.abort();
    await this.#stopFor(async () => {
      await this.#parts.closed();
      await this.#parts.endWork();
      await this.#outbox.settle();
      this.#history.drop();
      await this.#writer.close();
    }, cause).finally(() => this.#services.programs.remove(this.#state));
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
}
