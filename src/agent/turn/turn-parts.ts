import { flatSpecName } from '../../model/flat-tool-name.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type {
  ResponseItem,
  TokenUsageBreakdown,
  TurnError,
  UntimedItem,
} from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { Tool } from '../../tools/tool.ts';
import { mergedSteps, type StepAddition } from '../outbox/step.ts';
import { CallParts } from './call-parts.ts';
import { PartGuard, type PartGuardDeps, returned } from './part-guard.ts';
import type {
  CompactionTrigger,
  DueTurn,
  EndBeforeRequest,
  EndedResponse,
  TurnContext,
  TurnInput,
  TurnOutcome,
  TurnPart,
} from './turn-part.ts';

/**
 * The decision about input. `refused`: the model does not read it. `endsTurn`: nor anything else.
 */
interface CheckedInput {
  decision: 'taken' | 'refused' | 'endsTurn';
  tell: ResponseItem[];
}

/** The parts of one thread's turns. At each moment they act in the order of the list. */
export class TurnParts {
  readonly #parts: readonly TurnPart[];
  readonly #guard: PartGuard;
  /** The parts at the moments of calls. */
  readonly calls: CallParts;

  constructor(parts: readonly TurnPart[], deps: PartGuardDeps) {
    this.#parts = parts;
    this.#guard = new PartGuard(parts, deps);
    this.calls = new CallParts(parts, this.#guard);
  }

  /** The part of this class. Throws if there is none. */
  get<Part extends TurnPart>(kind: abstract new (...args: never[]) => Part): Part {
    const part = this.#parts.find((candidate): candidate is Part => candidate instanceof kind);
    if (part === undefined) throw new Error(`the thread has no part ${kind.name}`);
    return part;
  }

  /**
   * The tools for one model request. Of two with one name, the one of the earlier part counts.
   * Empty if the turn is interrupted while the parts are asked.
   */
  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    const tools = new Map<string, Tool>();
    for (const part of this.#parts.filter((each) => 'tools' in each)) {
      const offered = await returned(part.tools?.(signal) ?? [], signal);
      if (offered === null) return [];
      for (const tool of offered) {
        const name = flatSpecName(tool.spec);
        if (!tools.has(name)) tools.set(name, tool);
      }
    }
    let arranged: readonly Tool[] = [...tools.values()];
    for (const part of this.#parts.filter((each) => 'arrangeTools' in each)) {
      const next = await returned(part.arrangeTools?.(arranged) ?? arranged, signal);
      if (next === null) return [];
      arranged = next;
    }
    return arranged;
  }

  /** The first turn that a part wants to begin; null: none does. */
  due(): DueTurn | null {
    for (const part of this.#parts) {
      const due = this.#guard.attempt(
        () => part.due?.() ?? null,
        null,
        'a part failed to say whether a turn is due',
      );
      if (due !== null) return due;
    }
    return null;
  }

  resumed(): Announcement[] {
    return this.#parts.flatMap((part) =>
      this.#guard.attempt(() => part.resumed?.() ?? [], [], 'a part failed to announce its state'),
    );
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

  /** Whether a part checks input before the model reads it. */
  withholdsInput(): boolean {
    return this.#parts.some((part) =>
      this.#guard.attempt(
        () => part.withholdsInput?.() === true,
        true,
        'a part failed to say whether it checks input',
      ),
    );
  }

  /**
   * The messages that the model reads before the input that has arrived, and whether the turn ends
   * instead.
   */
  async beforeInput(turn: TurnContext): Promise<{ tell: ResponseItem[]; end: boolean }> {
    const results = await this.#guard.each(
      turn,
      'a part failed before the input of a turn',
      (part) => part.beforeInput?.(turn),
    );
    return {
      tell: results.flatMap(({ tell = [] }) => tell),
      end: results.some(({ end }) => end === true),
    };
  }

  /**
   * Whether the model reads this input, and the messages after it. Null: the turn was interrupted
   * meanwhile.
   */
  async checkInput(input: TurnInput, turn: TurnContext): Promise<CheckedInput | null> {
    const tell: ResponseItem[] = [];
    const failed: { refuse: true; end?: true; tell?: ResponseItem[] } = { refuse: true };
    for (const part of this.#parts) {
      const checked = await this.#guard.decided(
        async () => returned(part.checkInput?.(input, turn) ?? {}, turn.signal),
        failed,
      );
      if (checked === null) return null;
      tell.push(...(checked.tell ?? []));
      if (checked.end === true) return { decision: 'endsTurn', tell };
      if (checked.refuse === true) return { decision: 'refused', tell };
    }
    return { decision: 'taken', tell };
  }

  /**
   * Prepares the next request. `tell` stores messages that the model reads with it. Null: the turn
   * goes on.
   */
  async beforeRequest(
    turn: TurnContext,
    tell: (messages: readonly ResponseItem[]) => Promise<void>,
  ): Promise<EndBeforeRequest | null> {
    for (const part of this.#parts.filter((each) => 'beforeRequest' in each)) {
      const before = (await returned(part.beforeRequest?.(turn) ?? {}, turn.signal)) ?? {};
      if (before.tell !== undefined && before.tell.length > 0) {
        await tell(before.tell);
        before.told?.();
      }
      if (before.end !== undefined) return before.end;
    }
    return null;
  }

  async afterRequest(response: EndedResponse, turn: TurnContext): Promise<void> {
    await this.#guard.each(turn, 'a part failed after a response', (part) => {
      const done = part.afterRequest?.(response, turn);
      return done instanceof Promise ? done.then(() => ({})) : undefined;
    });
  }

  /** The items and messages with which a turn goes on that would end. */
  async stopping(
    turn: TurnContext,
    lastMessage: string | null,
  ): Promise<{ item: UntimedItem; tell: ResponseItem[] }[]> {
    const results = await this.#guard.each(turn, 'a part failed at the end of a turn', (part) =>
      part.stopping?.(turn, lastMessage),
    );
    return results.flatMap(({ goOn }) => goOn ?? []);
  }

  /** Whether a part stops a compaction. */
  async beforeCompaction(turn: TurnContext, trigger: CompactionTrigger): Promise<boolean> {
    const results = await this.#guard.each(turn, 'a part failed before a compaction', (part) =>
      part.beforeCompaction?.(turn, trigger),
    );
    return results.some(({ stop }) => stop === true);
  }

  /** Whether a part stops the turn after a compaction. */
  async afterCompaction(turn: TurnContext, trigger: CompactionTrigger): Promise<boolean> {
    const results = await this.#guard.each(turn, 'a part failed after a compaction', (part) =>
      part.afterCompaction?.(turn, trigger),
    );
    return results.some(({ stop }) => stop === true);
  }

  /**
   * Whether a part has an answer to the failure of a model request, so that the model is asked
   * again.
   */
  requestFailed(error: TurnError, turn: TurnContext): boolean {
    const answers = this.#parts.map((part) =>
      this.#guard.attempt(
        () => part.requestFailed?.(error, turn) ?? {},
        {},
        'a part failed to judge the failure of a model request',
      ),
    );
    return answers.some(({ again }) => again === true);
  }

  /**
   * Items that the model must read again in this turn, because a compaction removed them from the
   * prompt.
   */
  compacted(turn: TurnContext): AuthoredItem[] {
    return this.#parts.flatMap((part) =>
      this.#guard.attempt(
        () => part.compacted?.(turn) ?? [],
        [],
        'a part failed to tell the model again',
      ),
    );
  }

  /** Never rejects. */
  async cleanUp(turn: TurnContext): Promise<void> {
    for (const part of this.#parts.filter((each) => 'cleanUp' in each)) {
      try {
        await part.cleanUp?.(turn);
      } catch (error) {
        this.#guard.failed('a part could not clean up after a turn', {
          err: error,
          turnId: turn.id,
        });
      }
    }
  }

  /** Never rejects, and takes as long as the slowest part. */
  closed(): Promise<void> {
    return this.#endAll('a part failed at the end of its thread', (part) => part.closed?.());
  }

  /** Never rejects: the error of one part must not keep a thread from being closed. */
  endWork(): Promise<void> {
    return this.#endAll('a part failed to end its work', (part) => part.endWork?.());
  }

  async #endAll(
    message: string,
    end: (part: TurnPart) => Promise<void> | undefined,
  ): Promise<void> {
    const failed = (error: unknown) => this.#guard.failed(message, { err: error });
    await Promise.all(this.#parts.map(async (part) => end(part)).map((work) => work.catch(failed)));
  }

  /**
   * Merges the steps of all parts. A part that throws takes no step, because its error must not
   * keep a turn from beginning or ending.
   */
  #merged(stepOf: (part: TurnPart) => StepAddition | undefined): StepAddition {
    return mergedSteps(
      this.#parts.map((part) =>
        this.#guard.attempt(
          () => stepOf(part) ?? {},
          {},
          'a part failed to take its step in a turn',
        ),
      ),
    );
  }
}
