import type { Log } from '../../base/log.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { flatSpecName } from '../../model/flat-tool-name.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, TokenUsageBreakdown, TurnError } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { Action } from '../../tools/action.ts';
import type { Tool } from '../../tools/tool.ts';
import { mergedSteps, type StepAddition } from '../step.ts';
import type { Awaitable, DueTurn, TurnContext, TurnOutcome, TurnPart } from './turn-part.ts';

interface TurnPartsDeps {
  threadId: string;
  log: Log;
}

/** The result of a part; null if the signal aborts first. Adds a listener to the signal only for a promise. */
function returned<T>(value: Awaitable<T>, signal: AbortSignal): Awaitable<T | null> {
  return value instanceof Promise ? orAborted(value, signal) : value;
}

const INTERRUPTED = 'The turn was interrupted before this was done.';

/** The parts of one thread's turns. At each moment they act in the order of the list. */
export class TurnParts {
  readonly #parts: readonly TurnPart[];
  readonly #deps: TurnPartsDeps;

  constructor(parts: readonly TurnPart[], deps: TurnPartsDeps) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /** The part of this class. Throws if there is none. */
  get<Part extends TurnPart>(kind: abstract new (...args: never[]) => Part): Part {
    const part = this.#parts.find((candidate): candidate is Part => candidate instanceof kind);
    if (part === undefined) throw new Error(`the thread has no part ${kind.name}`);
    return part;
  }

  /**
   * The tools for one model request. Of two with one name, the one of the earlier part counts. Empty if the turn is interrupted while the
   * parts are asked.
   */
  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    const tools = new Map<string, Tool>();
    for (const part of this.#parts) {
      const offered = await returned(part.tools?.(signal) ?? [], signal);
      if (offered === null) return [];
      for (const tool of offered) {
        const name = flatSpecName(tool.spec);
        if (!tools.has(name)) tools.set(name, tool);
      }
    }
    return this.#parts.reduce<readonly Tool[]>((arranged, part) => part.arrangeTools?.(arranged) ?? arranged, [...tools.values()]);
  }

  /** The first turn that a part wants to begin; null: none does. */
  due(): DueTurn | null {
    for (const part of this.#parts) {
      const due = this.#attempt(() => part.due?.() ?? null, null, 'a part failed to say whether a turn is due');
      if (due !== null) return due;
    }
    return null;
  }

  resumed(): Announcement[] {
    return this.#parts.flatMap((part) => this.#attempt(() => part.resumed?.() ?? [], [], 'a part failed to announce its state'));
  }

  inputArrived(): StepAddition {
    return this.#merged((part) => part.inputArrived?.());
  }

  turnBegan(turn: TurnContext): StepAddition {
    return this.#merged((part) => part.turnBegan?.(turn));
  }

  tokensUsed(turn: TurnContext, usage: TokenUsageBreakdown): StepAddition {
    return this.#merged((part) => part.tokensUsed?.(turn, usage));
  }

  turnEnded(turn: TurnContext, outcome: TurnOutcome): StepAddition {
    return this.#merged((part) => part.turnEnded?.(turn, outcome));
  }

  /** Prepares the next request. `tell` stores messages that the model reads with it. */
  async beforeRequest(turn: TurnContext, tell: (messages: readonly ResponseItem[]) => Promise<void>): Promise<void> {
    for (const part of this.#parts) {
      const before = await returned(part.beforeRequest?.(turn) ?? {}, turn.signal);
      if (before?.tell === undefined || before.tell.length === 0) continue;
      await tell(before.tell);
      before.told?.();
    }
  }

  /** Whether a part has an answer to the failure of a model request, so that the model is asked again. */
  requestFailed(error: TurnError, turn: TurnContext): boolean {
    const answers = this.#parts.map((part) =>
      this.#attempt(() => part.requestFailed?.(error, turn) ?? {}, {}, 'a part failed to judge the failure of a model request'),
    );
    return answers.some(({ again }) => again === true);
  }

  /** Items that the model must read again in this turn, because a compaction removed them from the prompt. */
  compacted(turn: TurnContext): AuthoredItem[] {
    return this.#parts.flatMap((part) => this.#attempt(() => part.compacted?.(turn) ?? [], [], 'a part failed to tell the model again'));
  }

  /** The reason why a part refuses an action, for the model; null: none does. Never rejects. */
  async beforeAction(action: Action, turn: TurnContext): Promise<string | null> {
    for (const part of this.#parts) {
      try {
        const result = await returned(part.beforeAction?.(action, turn) ?? {}, turn.signal);
        if (result === null) return INTERRUPTED;
        if (result.refuse !== undefined) return result.refuse;
      } catch (error) {
        this.#failed('a part failed to check an action, so it is refused', { err: error, turnId: turn.id, kind: action.kind });
        return 'Refused: a check of this action failed inside the server.';
      }
    }
    return null;
  }

  /** Never rejects. */
  async cleanUp(turn: TurnContext): Promise<void> {
    for (const part of this.#parts) {
      try {
        await part.cleanUp?.(turn);
      } catch (error) {
        this.#failed('a part could not clean up after a turn', { err: error, turnId: turn.id });
      }
    }
  }

  /** Never rejects: the error of one part must not keep a thread from being closed. */
  async endWork(): Promise<void> {
    const failed = (error: unknown) => this.#failed('a part failed to end its work', { err: error });
    await Promise.all(this.#parts.map(async (part) => part.endWork?.()).map((work) => work.catch(failed)));
  }

  /** Merges the steps of all parts. A part that throws takes no step, because its error must not keep a turn from beginning or ending. */
  #merged(stepOf: (part: TurnPart) => StepAddition | undefined): StepAddition {
    return mergedSteps(this.#parts.map((part) => this.#attempt(() => stepOf(part) ?? {}, {}, 'a part failed to take its step in a turn')));
  }

  /** Returns the result of the work of a part, or `otherwise` if it throws; the error is logged with this message. */
  #attempt<T>(work: () => T, otherwise: T, message: string): T {
    try {
      return work();
    } catch (error) {
      this.#failed(message, { err: error });
      return otherwise;
    }
  }

  #failed(message: string, fields: object): void {
    const { log, threadId } = this.#deps;
    log.error({ ...fields, threadId }, message);
  }
}
