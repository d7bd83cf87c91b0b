import {
  noActiveTurnToInterrupt,
  noActiveTurnToSteer,
  turnMismatch,
  turnNotSteerable,
  turnPending,
} from '../../protocol/errors/turn-errors.ts';
import type {
  ResponseItem,
  ReviewTarget,
  TurnStartParams,
  TurnSteerParams,
} from '../../protocol/generated/types.ts';
import type { UserCommand } from '../../tools/command/user-command.ts';
import { joinCommand, openWithCommand } from '../loop/join-command.ts';
import type { TurnRunner } from '../loop/turn-runner.ts';
import { checkAdditionalContext } from '../prompt/additional-context.ts';
import { checkInput } from '../prompt/check-input.ts';
import { beginReview } from '../review/begin-review.ts';
import type { SettingsChanges } from '../settings/settings-changes.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import type { DueInput } from '../turn/due-input.ts';
import { injectModelItems } from '../turn/inject-model-items.ts';
import type { TurnBeginning } from '../turn/turn-opening.ts';
import type { TurnParts } from '../turn/turn-parts.ts';
import { type Joined, type RunTurn, TurnStarter } from '../turn/turn-starter.ts';

interface ThreadTurnsOptions {
  runner: TurnRunner;
  settingsChanges: SettingsChanges;
  /** Called after a turn has ended and its end has been announced. */
  onTurnEnded(threadId: string, turnId: string): void;
}

/** Which turns may begin by themselves. */
type MayBegin = Parameters<TurnParts['due']>[0];

/** A client asks for the turn. */
const ANY: MayBegin = { isAttended: true, isReachable: true };

/** Begins, joins and interrupts the turns of a loaded thread, as requests and parts want it. */
export class ThreadTurns {
  readonly #thread: ThreadContext;
  readonly #own: ThreadTurnsOptions;
  readonly #starter: TurnStarter;
  /** The last turn that a client interrupted. */
  #interruptedTurnId: string | null = null;
  /** True: no due turn begins any more. */
  #isClosing = false;

  constructor(thread: ThreadContext, own: ThreadTurnsOptions) {
    this.#thread = thread;
    this.#own = own;
    this.#starter = new TurnStarter(thread, this.#run, own.runner);
  }

  /**
   * Begins a turn, or adds the input to the running one. Stored when this resolves. `onJoining`:
   * the running turn takes the input.
   */
  async start(
    params: TurnStartParams,
    onJoining: () => void,
    author: 'user' | 'parent' = 'user',
  ): Promise<Joined> {
    checkInput(params.input, { required: false });
    checkAdditionalContext(params.additionalContext);
    return this.#thread.beginnings.begin(async () => {
      const settings = this.#own.settingsChanges.overridden(this.#thread.state.settings, params);
      const { turn } = this.#thread.state;
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
    return this.#thread.beginnings.begin(async () => {
      const { turn } = this.#thread.state;
      turn?.refuseInput();
      turn?.interrupt('user');
      await turn?.finished;
      return beginReview(this.#thread, this.#run, target);
    });
  }

  /**
   * Prepares a user command: in the running turn, which then does not end before the command, or in
   * a turn of its own. Returns the function that runs it; call it after the request is answered.
   */
  runCommand(command: UserCommand): Promise<() => void> {
    return this.#thread.beginnings.begin(async () => {
      const { calls } = this.#own.runner;
      const { turn } = this.#thread.state;
      const joined = turn === null ? null : joinCommand(this.#thread, calls, { turn, command });
      if (joined !== null) return joined;
      await turn?.finished;
      return (
        await this.#starter.begin({
          command: command.text,
          opening: (ownTurn) => openWithCommand(this.#thread, calls, { turn: ownTurn, command }),
        })
      ).afterAnswer;
    });
  }

  /**
   * Begins the turn that a part wants because a client asked for it. While another turn runs, it
   * begins at that turn's end. Call the returned function after the request is answered.
   */
  beginRequested(): Promise<() => void> {
    return this.#thread.beginnings.begin(async () => {
      const due = this.#thread.state.turn === null ? this.#thread.parts.due(ANY) : null;
      const begun = due === null ? null : await this.#starter.beginWanted(due);
      return begun?.afterAnswer ?? (() => {});
    });
  }

  /**
   * Begins a turn with input that has waited, because a client asked for it. Throws `turn_active`
   * if a turn runs or is being begun.
   */
  async startWaiting(input: DueInput): Promise<Joined | null> {
    const { beginnings, state } = this.#thread;
    if (state.turn !== null || beginnings.isBeginning) throw turnPending();
    return beginnings.begin(async () => {
      if (state.turn !== null) throw turnPending();
      return this.#starter.beginWanted(input);
    });
  }

  /**
   * Begins a turn that a part wants, if no turn runs and no request is beginning a turn or changing
   * the thread.
   */
  beginDue(may: MayBegin): void {
    const isFree =
      !this.#isClosing && this.#thread.state.turn === null && this.#thread.beginnings.none;
    const due = isFree ? this.#thread.parts.due(may) : null;
    if (due !== null) void this.#thread.beginnings.begin(() => this.#starter.beginDue(due));
  }

  /**
   * Adds input to the running turn, which must be the expected one. `onJoining` is called when it
   * is certain that the turn takes it.
   */
  async steer(params: TurnSteerParams, onJoining: () => void): Promise<Joined> {
    checkInput(params.input, { required: true });
    checkAdditionalContext(params.additionalContext);
    const { turn } = this.#thread.state;
    if (turn === null) throw noActiveTurnToSteer();
    if (turn.id !== params.expectedTurnId) throw turnMismatch(params.expectedTurnId, turn.id);
    if (turn.steerRefusal !== null) throw turnNotSteerable(turn.steerRefusal);
    const reservation = turn.reserveInput();
    if (reservation === null) throw noActiveTurnToSteer();
    onJoining();
    return this.#starter.join(turn, reservation, { params, settings: this.#thread.state.settings });
  }

  /**
   * Closes the turn to input and returns the function that interrupts it. An empty id means the
   * running turn; if none runs, the function does nothing. It also does nothing if this turn was
   * interrupted by a client and has ended. Throws if any other id is not that of the running turn,
   * or if how that turn ends is decided already.
   */
  interrupt(turnId: string): () => void {
    const { turn } = this.#thread.state;
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
   * Stores items for the model. `approval`: what the user has approved. Call the returned function
   * after the request is answered.
   */
  inject(items: ResponseItem[], author: 'approval' | null = null): Promise<() => void> {
    const inject = () =>
      injectModelItems(items, {
        author,
        thread: this.#thread,
        firstContext: () => this.#starter.firstContext(),
      });
    return this.#thread.state.turn === null ? this.#thread.beginnings.change(inject) : inject();
  }

  /** No due turn begins after that. */
  endDue(): void {
    this.#isClosing = true;
  }

  readonly #run: RunTurn = (turn, beginning) => {
    const { keepAlive } = this.#thread.services.runtime;
    void keepAlive.during(this.#runTurn(turn, beginning));
  };

  async #runTurn(turn: ActiveTurn, beginning: TurnBeginning): Promise<void> {
    const { runner, onTurnEnded } = this.#own;
    await runner.run(turn, beginning);
    // Clients learn of the end before the work that follows it.
    this.#thread.services.clients.flush({ threadId: this.#thread.id });
    if (turn.interruptCause === 'user') this.#interruptedTurnId = turn.id;
    onTurnEnded(this.#thread.id, turn.id);
  }
}
