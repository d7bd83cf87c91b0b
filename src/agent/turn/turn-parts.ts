import { flatSpecName } from '../../model/flat-tool-name.ts';
import type { Announcement } from '../../protocol/announcement.ts';
import type {
  ResponseItem,
  TokenUsageBreakdown,
  UntimedItem,
} from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import type { Tool } from '../../tools/tool.ts';
import { mergedSteps, type StepAddition } from '../outbox/step.ts';
import { PartGuard, type PartGuardDeps, returned } from './part-guard.ts';
import { EVENTS, type PendingCall, type TurnEffects, type TurnEvents } from './turn-events.ts';
import type {
  DueTurn,
  EndBeforeRequest,
  EndedResponse,
  Opening,
  TurnContext,
  TurnOutcome,
  TurnPart,
} from './turn-part.ts';

/** The parts of one thread's turns. At each moment they act in the order of the list. */
export class TurnParts {
  readonly #parts: readonly TurnPart[];
  readonly #guard: PartGuard;

  constructor(parts: readonly TurnPart[], deps: PartGuardDeps) {
    this.#parts = parts;
    this.#guard = new PartGuard(parts, deps);
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
    let tools: readonly Tool[] = [];
    for (const part of this.#parts.filter((each) => 'tools' in each)) {
      const offered = await returned(part.tools?.(tools, signal) ?? tools, signal);
      if (offered === null) return [];
      const named = new Map<string, Tool>();
      for (const tool of offered) {
        const name = flatSpecName(tool.spec);
        if (!named.has(name)) named.set(name, tool);
      }
      tools = [...named.values()];
    }
    return tools;
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

  opened(how: Opening): Announcement[] {
    return this.#parts.flatMap((part) =>
      this.#guard.attempt(() => part.opened?.(how) ?? [], [], 'a part failed to open its thread'),
    );
  }

  inputArrived(): StepAddition {
    return this.#merged((part) => part.inputArrived?.());
  }

  turnBegan(turn: TurnContext): StepAddition {
    return this.#merged((part) => part.turnBegan?.(turn));
  }

  tokensUsed(turn: TurnContext | null, usage: TokenUsageBreakdown): StepAddition {
    return this.#merged((part) => part.tokensUsed?.(turn, usage));
  }

  turnEnded(turn: TurnContext, outcome: TurnOutcome): StepAddition {
    return this.#merged((part) => part.turnEnded?.(turn, outcome));
  }

  /** Whether a part handles this event. Of a part that throws: whether it could refuse anything. */
  wants(event: 'input' | 'called', about: PendingCall | null): boolean {
    return this.#parts.some((part) =>
      this.#guard.attempt(
        () => part.wants?.(event, about) === true,
        event === 'input',
        'a part failed to say whether it handles an event',
      ),
    );
  }

  /**
   * The effects of all parts that handle an event, by its row of EVENTS. Null: the turn was
   * interrupted meanwhile, and that ends the event. Rejects only with the store's error.
   */
  async emit<Event extends keyof TurnEvents>(
    name: Event,
    event: TurnEvents[Event],
    turn: TurnContext,
    signal = turn.signal,
  ): Promise<TurnEffects[Event] | null> {
    const rule = EVENTS[name];
    let effects: TurnEffects[Event] = {};
    for (const part of this.#parts) {
      const handle = part.on?.[name];
      if (handle === undefined) continue;
      const seen = rule.seen?.(event, effects) ?? event;
      const next = await this.#guard.decided(
        async () => returned(handle(seen, turn), signal),
        rule.thrown,
        { message: rule.failure, turnId: turn.id },
      );
      if (next === null && rule.endsByInterrupt) return null;
      if (next !== null) effects = rule.merged(effects, next);
      if (rule.isDecided(effects)) break;
    }
    return effects;
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

  /** Whether a part has an answer to the failure of a request, so that the model is asked again. */
  async requestEnded(response: EndedResponse, turn: TurnContext): Promise<boolean> {
    const results = await this.#guard.each(turn, 'a part failed after a response', (part) =>
      part.requestEnded?.(response, turn),
    );
    return results.some(({ again }) => again === true);
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

  /**
   * Items that the model must read again in this turn, because a compaction removed them from the
   * prompt.
   */
  readAgain(turn: TurnContext): AuthoredItem[] {
    return this.#parts.flatMap((part) =>
      this.#guard.attempt(
        () => part.readAgain?.(turn) ?? [],
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
