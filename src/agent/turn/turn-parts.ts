import type { Log } from '../../base/log.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type { ResponseItem, TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import type { Action } from '../../tools/action.ts';
import type { Tool } from '../../tools/tool.ts';
import { mergedSteps, type Step } from '../outbox.ts';
import type { DueTurn, TurnContext, TurnOutcome, TurnPart } from './turn-part.ts';

/** The parts of one thread's turns. At each moment they act in the order of the list. */
export class TurnParts {
  readonly #parts: readonly TurnPart[];
  readonly #log: Log;

  constructor(parts: readonly TurnPart[], log: Log) {
    this.#parts = parts;
    this.#log = log;
  }

  /** The part of this class. Throws if there is none. */
  get<Part extends TurnPart>(kind: abstract new (...args: never[]) => Part): Part {
    const part = this.#parts.find((candidate): candidate is Part => candidate instanceof kind);
    if (part === undefined) throw new Error(`the thread has no part ${kind.name}`);
    return part;
  }

  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    const lists = await Promise.all(this.#parts.map(async (part) => part.tools?.(signal) ?? []));
    return lists.flat();
  }

  /** The first turn that a part wants to begin; null: none does. */
  due(): DueTurn | null {
    for (const part of this.#parts) {
      const due = part.due?.() ?? null;
      if (due !== null) return due;
    }
    return null;
  }

  resumed(): Announcement[] {
    return this.#parts.flatMap((part) => part.resumed?.() ?? []);
  }

  inputArrived(): Step {
    return mergedSteps(this.#parts.map((part) => part.inputArrived?.() ?? {}));
  }

  turnBegan(turn: TurnContext): Step {
    return mergedSteps(this.#parts.map((part) => part.turnBegan?.(turn) ?? {}));
  }

  tokensUsed(turn: TurnContext, usage: TokenUsageBreakdown): Step {
    return mergedSteps(this.#parts.map((part) => part.tokensUsed?.(turn, usage) ?? {}));
  }

  turnEnded(turn: TurnContext, outcome: TurnOutcome): Step {
    return mergedSteps(this.#parts.map((part) => part.turnEnded?.(turn, outcome) ?? {}));
  }

  /** The messages that the model reads with its next request. */
  async beforeRequest(turn: TurnContext): Promise<ResponseItem[]> {
    const messages: ResponseItem[] = [];
    for (const part of this.#parts) messages.push(...((await part.beforeRequest?.(turn))?.tell ?? []));
    return messages;
  }

  /** The reason why a part refuses an action, for the model; null: none does. Never rejects. */
  async beforeAction(action: Action, turn: TurnContext): Promise<string | null> {
    for (const part of this.#parts) {
      try {
        const refusal = (await part.beforeAction?.(action, turn))?.refuse ?? null;
        if (refusal !== null) return refusal;
      } catch (error) {
        this.#log.error({ err: error, turnId: turn.id, kind: action.kind }, 'a part failed to check an action, so it is refused');
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
        this.#log.error({ err: error, turnId: turn.id }, 'a part could not clean up after a turn');
      }
    }
  }

  async endWork(): Promise<void> {
    await Promise.all(this.#parts.map(async (part) => part.endWork?.()));
  }
}
