import { setImmediate } from 'node:timers/promises';
import type { JsonValue } from '../../base/json-value.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { Turn, TurnStartParams } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import { mergedSteps, type StepAddition } from '../outbox/step.ts';
import { additionalContext } from '../prompt/additional-context.ts';
import { previewPatch, textPreview, threadPreview } from '../prompt/thread-preview.ts';
import { settingsChange } from '../settings/settings-change.ts';
import { withTurnOverrides } from '../settings/turn-overrides.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ActiveTurn, InputReservation } from './active-turn.ts';
import type { DueInput } from './due-input.ts';
import { type NewTurn, newActiveTurn, settingsOfTurn, toldChange } from './new-turn.ts';
import {
  type ArrivedInput,
  type InputAuthor,
  inputEntries,
  modelEntries,
  type TurnMessage,
  turnInput,
  withheldItem,
} from './turn-input.ts';
import type { TurnBeginning } from './turn-opening.ts';
import type { DueTurn } from './turn-part.ts';
import { turnView } from './turn-view.ts';

/**
 * The turn that a request has begun or joined. Call `afterAnswer` after the request is answered.
 */
export interface Joined {
  turn: Turn;
  afterAnswer: () => void;
}

/** Runs a turn to its end. */
export type RunTurn = (turn: ActiveTurn, beginning: TurnBeginning) => void;

/**
 * Begins the turns of a thread and adds input to them: stores first, then lets the request be
 * answered, then runs.
 */
export class TurnStarter {
  readonly #thread: ThreadContext;
  readonly #run: RunTurn;
  readonly #runner: { prepare(turn: ActiveTurn, stored: Promise<void>): void };

  /** `runner` lets the model prepare the first request of a turn. */
  constructor(
    thread: ThreadContext,
    run: RunTurn,
    runner: { prepare(turn: ActiveTurn, stored: Promise<void>): void },
  ) {
    this.#thread = thread;
    this.#run = run;
    this.#runner = runner;
  }

  /** Begins a turn. It is stored when this resolves, and runs when `afterAnswer` is called. */
  async begin(newTurn: NewTurn): Promise<Joined> {
    const { state, outbox, parts, services } = this.#thread;
    const {
      params: given,
      author = 'user',
      step: taken = {},
      settings = state.settings,
      due = null,
      opening = null,
      command = null,
    } = newTurn;
    const params = given ?? { threadId: state.id, input: [] };
    const { clock, ids } = services.runtime;
    const now = clock.now();
    const startedMs = clock.monotonic();
    const turnId = ids.next();
    const root = params.rootTurnId ? { rootTurnId: params.rootTurnId } : {};
    const change = this.#settingsChange(settings);
    const context = await this.#context(settings, now);
    const added =
      given === undefined ? null : additionalContext(given.additionalContext, context.told);
    const told = added?.told ?? context.told;
    const input = this.#withheld(
      await turnInput({ params, author }, this.#inputDeps(settings, now)),
    );
    const patch: ThreadPatch = {
      listed: true,
      updatedAtMs: now,
      recencyAtMs: now,
      ...toldChange(state.record, told),
      ...change.patch,
      ...this.#preview(params, input, command),
    };
    const start: StepAddition = {
      entries: [
        { kind: 'turnStarted', turnId, startedAtMs: now, ...root },
        ...modelEntries(turnId, [...context.messages, ...(due?.tell ?? [])], 'context'),
        ...modelEntries(turnId, added?.messages ?? [], 'server'),
        ...inputEntries(turnId, input),
      ],
      patch,
    };
    const stored = outbox.commit({
      ...(due === null ? mergedSteps([start, taken, parts.step('inputArrived')]) : start),
      ...withheldItem(turnId, input),
      isLast: true,
    });
    // The rest is prepared while the store works.
    await Promise.race([stored, setImmediate()]);
    const turn = newActiveTurn(
      { ...newTurn, params, settings },
      { id: turnId, ...root, startedAtMs: now, startedMs },
      state.configuration.config,
    );
    if (input !== null) turn.reserveInput()?.deliver(input);
    if (!turn.isOpening) this.#runner.prepare(turn, stored);
    await stored;
    state.keep({ ...patch, ...taken.patch });
    state.turn = turn;
    state.status = 'active';
    const step = parts.step('turnBegan', turn);
    const afterAnswer = () => {
      this.#announce(change.announcements);
      this.#run(turn, { opening: due?.opening ?? opening, step });
    };
    return {
      turn: turnView({ id: turnId, ...root, status: 'inProgress', startedAtMs: null }),
      afterAnswer,
    };
  }

  /**
   * Begins a turn that a part wants, and runs it. If it cannot begin, clients get a warning, and it
   * is not tried again. Never rejects.
   */
  async beginDue(due: DueTurn | DueInput): Promise<void> {
    const { state, outbox, services } = this.#thread;
    let begun: Joined | null;
    try {
      begun = await this.beginWanted(due);
    } catch (error) {
      if (!(error instanceof StoreError))
        services.runtime.log.error(
          { err: error, threadId: state.id },
          'a due turn could not begin',
        );
      const message = `The thread could not begin its next turn by itself: ${error instanceof Error ? error.message : String(error)}`;
      void outbox.announce([{ method: 'warning', params: { threadId: state.id, message } }]);
      return;
    }
    begun?.afterAnswer();
  }

  /** As `begin`, for a turn that a part wants. Null: its input is not there any more. */
  beginWanted(due: DueTurn | DueInput): Promise<Joined | null> {
    return 'take' in due ? due.take((taken) => this.begin(taken)) : this.begin({ due });
  }

  /** Adds input to a running turn, and stores the settings as the thread's. */
  async join(
    turn: ActiveTurn,
    reservation: InputReservation,
    {
      params,
      settings,
      author = 'user',
    }: Omit<TurnMessage, 'author'> & { settings: ThreadSettings; author?: InputAuthor },
  ): Promise<Joined> {
    const { state, outbox, parts, services } = this.#thread;
    const change = this.#settingsChange(settings);
    let input: ArrivedInput | null;
    let patch = change.patch;
    let before: Pick<ThreadRecord, 'told'> | null = null;
    try {
      const deps = this.#inputDeps(settings, services.runtime.clock.now());
      const taken = this.#withheld(await turnInput({ params, author }, deps));
      input = taken;
      patch = { ...change.patch, ...this.#preview(params, taken) };
      const arrived = parts.step('inputArrived');
      // A compaction may take the context away until this step is made.
      await outbox.commitMade(() => {
        before = { told: state.record.told };
        const { messages, told } = additionalContext(params.additionalContext, state.record.told);
        const added = toldChange(state.record, told);
        state.keep(added);
        // The reservation has stopped the response. So what is deferred, such as what calls have
        // told meanwhile, comes before the new input.
        const entries: LogEntry[] = [
          { kind: 'deferredRead', turnId: turn.id },
          ...modelEntries(turn.id, messages, 'server'),
          ...inputEntries(turn.id, taken),
        ];
        return {
          ...mergedSteps([{ entries, patch: { ...patch, ...added } }, arrived]),
          ...withheldItem(turn.id, taken),
        };
      });
    } catch (error) {
      if (before !== null) state.keep(before);
      reservation.release();
      throw error;
    }
    state.keep(patch);
    if (turn.isOpening && !('expectedTurnId' in params)) this.#answerWith(turn, params);
    turn.clientMetadata = params.responsesapiClientMetadata ?? turn.clientMetadata;
    const afterAnswer = () => {
      this.#announce(change.announcements);
      if (input === null) reservation.release();
      else reservation.deliver(input);
    };
    const { id, rootTurnId } = turn;
    return {
      turn: turnView({ id, rootTurnId, status: 'inProgress', startedAtMs: null }),
      afterAnswer,
    };
  }

  /**
   * The first context of a thread whose model was told none; else nothing. The caller stores it,
   * and keeps its patch.
   */
  async firstContext(): Promise<{ entries: LogEntry[]; patch: ThreadPatch }> {
    const { state, services } = this.#thread;
    if (state.record.told !== null) return { entries: [], patch: {} };
    const { messages, told } = await this.#context(state.settings, services.runtime.clock.now());
    return { entries: modelEntries(null, messages, 'context'), patch: { told } };
  }

  #inputDeps(settings: ThreadSettings, atMs: number) {
    const { state, services } = this.#thread;
    const { instructions } = state.configuration;
    return { settings, ...services.machine, ids: services.runtime.ids, instructions, atMs };
  }

  /** The context that the model of a turn with these settings was not told. */
  #context(settings: ThreadSettings, now: number) {
    const { state, grants } = this.#thread;
    const { record, configuration } = state;
    return configuration.instructions.contextUpdate({
      settings,
      granted: grants.permissions,
      told: record.told,
      now,
    });
  }

  /**
   * The preview of a thread that gets this input, or whose user runs this command. If the input may
   * be refused, it is the preview once it is not.
   */
  #preview(
    { input: given }: Pick<TurnStartParams, 'input'>,
    input: ArrivedInput | null,
    command: string | null = null,
  ): ThreadPatch {
    const { record } = this.#thread.state;
    if (command !== null) return previewPatch(record, textPreview(command), { isCommand: true });
    return input?.isWithheld === true ? {} : previewPatch(record, threadPreview(given));
  }

  /** Marks input that the parts check before the model reads it. */
  #withheld(input: ArrivedInput | null): ArrivedInput | null {
    return input !== null && this.#thread.parts.wants('input', null)
      ? { ...input, isWithheld: true }
      : input;
  }

  /**
   * The turn has not asked the model yet: it does so with the settings and the schema of this
   * input, and with its own changes.
   */
  #answerWith(turn: ActiveTurn, params: TurnStartParams): void {
    const { state, services } = this.#thread;
    const sources = { serverCwd: services.machine.cwd, config: state.configuration.config };
    const changed = [...turn.changes, params].reduce(
      (all, overrides) => withTurnOverrides(all, overrides, sources),
      state.settings,
    );
    turn.settings = settingsOfTurn(changed, params, sources.config);
    turn.outputSchema = (params.outputSchema ?? turn.outputSchema) as JsonValue;
  }

  /** The patch and the announcements that replace the thread's settings by these. */
  #settingsChange(settings: ThreadSettings): { patch: ThreadPatch; announcements: Announcement[] } {
    const { state } = this.#thread;
    return {
      patch: settings === state.settings ? {} : { settings },
      announcements: settingsChange(state.id, state.settings, settings),
    };
  }

  #announce(announcements: Announcement[]): void {
    const { state, services } = this.#thread;
    for (const { method, params } of announcements)
      services.clients.publish({ threadId: state.id }, method, params);
  }
}
