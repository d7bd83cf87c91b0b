import type { JsonValue } from '../../base/json-value.ts';
import type { GrantedPermissions } from '../../policy/permissions/sandbox-bounds.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { Turn, TurnStartParams } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import { StoreError } from '../../store/store-error.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import type { AgentDeps } from '../agent-deps.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { mergedSteps, type StepAddition } from '../outbox/step.ts';
import { additionalContext } from '../prompt/additional-context.ts';
import { previewPatch, textPreview, threadPreview } from '../prompt/thread-preview.ts';
import { settingsChange } from '../settings/settings-change.ts';
import { withTurnOverrides } from '../settings/turn-overrides.ts';
import type { ThreadState } from '../thread-state.ts';
import type { ActiveTurn, InputReservation } from './active-turn.ts';
import { type NewTurn, newActiveTurn, settingsOfTurn } from './new-turn.ts';
import {
  type InputAuthor,
  inputEntries,
  modelEntries,
  type TurnMessage,
  turnInput,
  withheldItem,
} from './turn-input.ts';
import type { TurnBeginning } from './turn-opening.ts';
import type { ArrivedInput, DueTurn } from './turn-part.ts';
import type { TurnParts } from './turn-parts.ts';
import { turnView } from './turn-view.ts';

/**
 * The turn that a request has begun or joined. Call `afterAnswer` after the request is answered.
 */
export interface Joined {
  turn: Turn;
  afterAnswer: () => void;
}

/** The collaborators that begin the turns of a thread. */
export interface TurnStarterDeps {
  readonly state: ThreadState;
  readonly outbox: Outbox;
  readonly parts: TurnParts;
  readonly agent: AgentDeps;
  /** The permissions that users have granted for the session. */
  granted(): readonly GrantedPermissions[];
  /** Runs a turn to its end. */
  run(turn: ActiveTurn, beginning: TurnBeginning): void;
}

/**
 * Begins the turns of a thread and adds input to them: stores first, then lets the request be
 * answered, then runs.
 */
export class TurnStarter {
  readonly #deps: TurnStarterDeps;

  constructor(deps: TurnStarterDeps) {
    this.#deps = deps;
  }

  /** Begins a turn. It is stored when this resolves, and runs when `afterAnswer` is called. */
  async begin(newTurn: NewTurn): Promise<Joined> {
    const { state, outbox, parts, agent } = this.#deps;
    const {
      params: given,
      author = 'user',
      settings = state.settings,
      due = null,
      opening = null,
      command = null,
    } = newTurn;
    const params = given ?? { threadId: state.id, input: [] };
    const { clock, ids } = agent;
    const now = clock.now();
    const startedMs = clock.monotonic();
    const turnId = ids.next();
    const root = params.rootTurnId ? { rootTurnId: params.rootTurnId } : {};
    const change = this.#settingsChange(settings);
    const { instructions } = state.configuration;
    const context = await this.#context(settings, now);
    const added =
      given === undefined ? null : additionalContext(given.additionalContext, context.told);
    const told = added?.told ?? context.told;
    const input = this.#withheld(
      await turnInput({ params, author }, { settings, ...agent, instructions, atMs: now }),
    );
    const patch: ThreadPatch = {
      listed: true,
      updatedAtMs: now,
      recencyAtMs: now,
      told,
      ...change.patch,
    };
    const preview =
      command === null
        ? this.#preview(params, input)
        : previewPatch(state.record, textPreview(command), { isCommand: true });
    Object.assign(patch, preview);
    const start: StepAddition = {
      entries: [
        { kind: 'turnStarted', turnId, startedAtMs: now, ...root },
        ...modelEntries(turnId, [...context.messages, ...(due?.tell ?? [])], 'context'),
        ...modelEntries(turnId, added?.messages ?? [], 'server'),
        ...inputEntries(turnId, input),
      ],
      patch,
    };
    await outbox.commit({
      ...(due === null ? mergedSteps([start, parts.inputArrived()]) : start),
      ...withheldItem(turnId, input),
    });
    state.keep(patch);
    const turn = newActiveTurn(
      { ...newTurn, params, settings },
      { id: turnId, ...root, startedAtMs: now, startedMs },
      state.configuration.config,
    );
    if (input !== null) turn.reserveInput()?.deliver(input);
    state.turn = turn;
    state.status = 'active';
    const step = parts.turnBegan(turn);
    const afterAnswer = () => {
      this.#announce(change.announcements);
      this.#deps.run(turn, { opening: due?.opening ?? opening, step });
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
  async beginDue(due: DueTurn): Promise<void> {
    const { state, outbox, agent } = this.#deps;
    let begun: Joined;
    try {
      begun = await this.begin({ due });
    } catch (error) {
      if (!(error instanceof StoreError))
        agent.log.error({ err: error, threadId: state.id }, 'a due turn could not begin');
      const message = `The thread could not begin its next turn by itself: ${error instanceof Error ? error.message : String(error)}`;
      void outbox.announce([{ method: 'warning', params: { threadId: state.id, message } }]);
      return;
    }
    begun.afterAnswer();
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
    const { state, outbox, parts, agent } = this.#deps;
    const { clock } = agent;
    const change = this.#settingsChange(settings);
    let input: ArrivedInput | null;
    let patch = change.patch;
    let before: Pick<ThreadRecord, 'told'> | null = null;
    try {
      const deps = {
        settings,
        ...agent,
        instructions: state.configuration.instructions,
        atMs: clock.now(),
      };
      const taken = this.#withheld(await turnInput({ params, author }, deps));
      input = taken;
      patch = { ...change.patch, ...this.#preview(params, taken) };
      const arrived = parts.inputArrived();
      // A compaction may take the context away until this step is made.
      await outbox.commitMade(() => {
        before = { told: state.record.told };
        const { messages, told } = additionalContext(params.additionalContext, state.record.told);
        state.keep({ told });
        // The reservation has stopped the response. So what is deferred, such as what calls have
        // told meanwhile, comes before the new input.
        const entries: LogEntry[] = [
          { kind: 'deferredRead', turnId: turn.id },
          ...modelEntries(turn.id, messages, 'server'),
          ...inputEntries(turn.id, taken),
        ];
        return {
          ...mergedSteps([{ entries, patch: { ...patch, told } }, arrived]),
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
    const { state, agent } = this.#deps;
    if (state.record.told !== null) return { entries: [], patch: {} };
    const { messages, told } = await this.#context(state.settings, agent.clock.now());
    return { entries: modelEntries(null, messages, 'context'), patch: { told } };
  }

  /** The context that the model of a turn with these settings was not told. */
  #context(settings: ThreadSettings, now: number) {
    const { state, granted } = this.#deps;
    const { record, configuration } = state;
    return configuration.instructions.contextUpdate({
      settings,
      granted: granted(),
      told: record.told,
      now,
    });
  }

  /**
   * The preview of a thread that gets this input. If the input may be refused, it is the preview
   * once it is not.
   */
  #preview(
    { input: given }: Pick<TurnStartParams, 'input'>,
    input: ArrivedInput | null,
  ): ThreadPatch {
    return input?.isWithheld === true
      ? {}
      : previewPatch(this.#deps.state.record, threadPreview(given));
  }

  /** Marks input that the parts check before the model reads it. */
  #withheld(input: ArrivedInput | null): ArrivedInput | null {
    return input !== null && this.#deps.parts.withholdsInput()
      ? { ...input, isWithheld: true }
      : input;
  }

  /**
   * The turn has not asked the model yet: it does so with the settings and the schema of this
   * input, and with its own changes.
   */
  #answerWith(turn: ActiveTurn, params: TurnStartParams): void {
    const { state, agent } = this.#deps;
    const sources = { serverCwd: agent.cwd, config: state.configuration.config };
    const changed = [...turn.changes, params].reduce(
      (all, overrides) => withTurnOverrides(all, overrides, sources),
      state.settings,
    );
    turn.settings = settingsOfTurn(changed, params, sources.config);
    turn.outputSchema = (params.outputSchema ?? turn.outputSchema) as JsonValue;
  }

  /** The patch and the announcements that replace the thread's settings by these. */
  #settingsChange(settings: ThreadSettings): { patch: ThreadPatch; announcements: Announcement[] } {
    const { state } = this.#deps;
    return {
      patch: settings === state.settings ? {} : { settings },
      announcements: settingsChange(state.id, state.settings, settings),
    };
  }

  #announce(announcements: Announcement[]): void {
    const { state, agent } = this.#deps;
    for (const { method, params } of announcements)
      agent.clients.publish({ threadId: state.id }, method, params);
  }
}
