import type { Announcement } from '../../protocol/announcement.ts';
import type { ThreadStatus, TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { ThreadWriter } from '../../store/thread-store.ts';
import type { InterruptCause } from '../../tools/denial.ts';
import type { AsideAnswer } from '../aside/ask-aside.ts';
import { type SampleRequest, sampleThread } from '../aside/sample-thread.ts';
import type { ClientQuestions } from '../calls/client-questions.ts';
import { TurnRunner } from '../loop/turn-runner.ts';
import type { Unstored } from '../outbox/outbox.ts';
import { stores } from '../outbox/step.ts';
import type { Services } from '../services.ts';
import { SettingsChanges } from '../settings/settings-changes.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { Opening, TurnPart } from '../turn/turn-part.ts';
import { revertedPatch, type TurnPartKind } from '../turn/turn-part-kind.ts';
import { createThreadContext, type ThreadSource } from './create-thread-context.ts';
import { ThreadTurns } from './thread-turns.ts';

export interface LoadedThreadOptions extends ThreadSource {
  services: Services;
  /** The kinds of its parts, in the order in which they act. */
  kinds: readonly TurnPartKind[];
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
  readonly #thread: ThreadContext;
  readonly #kinds: readonly TurnPartKind[];
  readonly #writer: ThreadWriter;
  readonly #runner: TurnRunner;
  readonly #closed = new AbortController();

  constructor({ services, kinds, onTurnEnded, ...source }: LoadedThreadOptions) {
    const { commands } = source.configuration;
    if (commands.enabled && commands.shellSnapshot) services.machine.shellExports.begin();
    const thread = createThreadContext(source, services, kinds);
    services.programs.add(thread.state);
    this.id = thread.id;
    this.#thread = thread;
    this.#kinds = kinds;
    this.#writer = source.writer;
    this.#runner = new TurnRunner(thread);
    this.settingsChanges = new SettingsChanges(thread, (patch) => this.update(patch));
    const { settingsChanges } = this;
    this.turns = new ThreadTurns(thread, { runner: this.#runner, settingsChanges, onTurnEnded });
  }

  get record(): ThreadRecord {
    return this.#thread.state.record;
  }

  get settings(): ThreadSettings {
    return this.#thread.state.settings;
  }

  get configuration(): ThreadConfiguration {
    return this.#thread.state.configuration;
  }

  get status(): ThreadStatus {
    return this.#thread.state.shownStatus;
  }

  /** The running turn; null between turns. */
  get turn(): ActiveTurn | null {
    return this.#thread.state.turn;
  }

  get rootTurnId(): string | null {
    return this.turn?.rootTurnId ?? null;
  }

  /**
   * The thread is open for a client, which knows it, or has another configuration. Returns the
   * announcements for a client that has resumed it.
   */
  opened(how: Opening): Announcement[] {
    return this.#thread.parts.each('opened', how).flat();
  }

  /** The part of this class. Throws if there is none. */
  part<Part extends TurnPart>(kind: abstract new (...args: never[]) => Part): Part {
    return this.#thread.parts.get(kind);
  }

  /** The announcement of the thread's token usage; null: it has used nothing. */
  get usageAnnouncement(): Announcement | null {
    return this.#thread.usage.announcement();
  }

  /** Whether a turn runs or is being begun. */
  get isRunning(): boolean {
    return this.turn !== null || this.#thread.beginnings.isBeginning;
  }

  /**
   * State that clients have seen and that is not in the store: unfinished items, and ends of turns
   * that could not be stored.
   */
  get unstored(): Unstored {
    return this.#thread.outbox;
  }

  /** The history as the model reads it. Null: it is too large. */
  readHistory(): Promise<readonly AuthoredItem[] | null> {
    return this.#thread.history.items();
  }

  /**
   * Agents below the thread have used tokens. Clients hear of it once the thread itself has a turn
   * that used some.
   */
  agentsUsed(used: TokenUsageBreakdown): void {
    const { outbox, parts, usage } = this.#thread;
    const { log } = this.#thread.services.runtime;
    // If it cannot be stored, memory has it, and the next change of the same fields stores it.
    const step = parts.step('tokensUsed', null, used);
    if (stores(step) || (step.announce ?? []).length > 0)
      outbox
        .commit(step)
        .catch((err: unknown) => log.info({ err }, 'the tokens of agents were not stored'));
    const announcement = usage.announcement();
    if (announcement !== null) void outbox.announce([announcement]);
  }

  /** Changes fields of the record, and announces the change. */
  async update(patch: ThreadPatch, announce: Announcement[] = []): Promise<void> {
    await this.#thread.outbox.commit({ patch, announce });
    this.#thread.state.keep(patch);
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
    return sampleThread(this.#thread, request, AbortSignal.any([signal, this.#closed.signal]));
  }

  /** Resolves when a turn that is being begun has begun. */
  turnBegun(): Promise<void> {
    return this.#thread.beginnings.settle();
  }

  /** Resolves when the turn that runs or is being begun has ended. */
  async turnEnded(): Promise<void> {
    await this.#thread.beginnings.settle();
    await this.turn?.finished;
  }

  /**
   * Removes this turn and all later ones from the thread. A running turn is interrupted with the
   * cause `user`, once `prepare` has resolved with the change of the record. If that rejects,
   * nothing is changed.
   */
  revert(beforeTurnId: string, prepare: () => Promise<ThreadPatch>): Promise<void> {
    const change = async (patch: ThreadPatch) => {
      await this.#thread.parts.end('endWork');
      // The revert cuts the log, so entries that are still owed must be stored before.
      await this.#thread.outbox.commit({});
      const whole = {
        ...patch,
        updatedAtMs: this.#thread.services.runtime.clock.now(),
        ...revertedPatch(this.#kinds, this.record),
      };
      await this.#thread.services.store.revertThread(this.id, beforeTurnId, whole);
      this.#thread.history.forget();
      // Another status is that of the last turn, which failed and is now removed.
      if (this.#thread.state.status !== 'idle')
        await this.#thread.outbox.announce(
          this.#thread.state.statusStep('idle', this.#thread.services.runtime.clock.now()).announce,
        );
      this.#thread.state.keep(whole);
    };
    // No due turn begins while it is prepared.
    return this.#thread.beginnings.change(async () => {
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
      await this.#thread.parts.end('endWork');
      await change();
      this.turns.endDue();
    });
  }

  /** Interrupts the turn, ends all work of the thread and closes its writer. */
  async close(cause: InterruptCause = 'close'): Promise<void> {
    this.turns.endDue();
    this.#closed.abort();
    await this.#stopFor(async () => {
      await this.#thread.parts.end('closed');
      await this.#thread.parts.end('endWork');
      await this.#thread.outbox.settle();
      this.#thread.history.drop();
      await this.#writer.close();
    }, cause).finally(() => this.#thread.services.programs.remove(this.#thread.state));
  }

  /** Interrupts the running turn, and makes a change before another turn can begin. */
  #stopFor<T>(change: () => Promise<T>, cause: InterruptCause = 'close'): Promise<T> {
    return this.#thread.beginnings.change(() => this.#stopped(change, cause));
  }

  async #stopped<T>(change: () => Promise<T>, cause: InterruptCause): Promise<T> {
    const { turn } = this;
    turn?.refuseInput();
    turn?.interrupt(cause);
    await turn?.finished;
    await this.#thread.outbox.settle();
    return change();
  }
}
