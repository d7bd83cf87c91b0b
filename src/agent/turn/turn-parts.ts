import type { Log } from '../../base/log.ts';
import { orAborted } from '../../base/or-aborted.ts';
import { flatSpecName } from '../../model/flat-tool-name.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Tool } from '../../tools/tool.ts';
import { mergedSteps, type StepAddition } from '../outbox/step.ts';
import { EVENTS, type PendingCall, type TurnEffects, type TurnFacts } from './turn-events.ts';
import type { Awaitable, EndBeforeRequest, TurnContext, TurnPart } from './turn-part.ts';

/** The moments at which parts act. */
type Moment = keyof TurnPart;

/** The moments at which parts take a step. */
type StepMoment = 'inputArrived' | 'turnBegan' | 'tokensUsed' | 'turnEnded';

type Method<At extends Moment> = Required<TurnPart>[At];

/** A part that acts at this moment. */
type Acting<At extends Moment> = TurnPart & Required<Pick<TurnPart, At>>;

/** The parts of one thread's turns. At each moment they act in the order of the list. */
export class TurnParts {
  readonly #parts: readonly TurnPart[];
  readonly #deps: { threadId: string; log: Log };

  constructor(parts: readonly TurnPart[], deps: { threadId: string; log: Log }) {
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
   * The tools for one model request. Of two with one name, the one of the earlier part counts.
   * Empty if the turn is interrupted while the parts are asked.
   */
  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    let tools: readonly Tool[] = [];
    for (const part of this.#acting('tools')) {
      const offered = await returned(part.tools(tools, signal), signal);
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

  /** The first turn that a part wants to begin, and may (`Attendance`); null: there is none. */
  due(may: { isAttended: boolean; isReachable: boolean }): ReturnType<Method<'due'>> {
    for (const part of this.#acting('due')) {
      const due = this.#attempt('due', () => part.due(), null);
      if (due !== null && ('take' in due ? may.isReachable : may.isAttended)) return due;
    }
    return null;
  }

  /** Whether a part handles this event. Of a part that throws: whether it could refuse anything. */
  wants(event: 'input' | 'called', about: PendingCall | null): boolean {
    return this.#acting('wants').some((part) =>
      this.#attempt('wants', () => part.wants(event, about), event === 'input'),
    );
  }

  /** The merged steps of the parts at this moment. */
  step<At extends StepMoment>(moment: At, ...facts: Parameters<Method<At>>): StepAddition {
    return mergedSteps(this.each(moment, ...facts));
  }

  /**
   * The results of the parts that act at this moment, without those that throw: their errors must
   * not keep a turn from beginning or ending.
   */
  each<At extends StepMoment | 'opened' | 'readAgain'>(
    moment: At,
    ...facts: Parameters<Method<At>>
  ): ReturnType<Method<At>>[] {
    return this.#acting(moment).flatMap((part) => {
      const act = part[moment] as (...given: typeof facts) => ReturnType<Method<At>>;
      return this.#attempt(moment, () => [act.apply(part, facts)], []);
    });
  }

  /**
   * The effects of all parts that handle an event, by its row of EVENTS. Null: the turn was
   * interrupted meanwhile, and that ends the event. Rejects only with the store's error.
   */
  async emit<Event extends keyof TurnEffects>(
    name: Event,
    facts: TurnFacts[Event],
    turn: TurnContext,
    signal = turn.signal,
  ): Promise<TurnEffects[Event] | null> {
    const { thrown, endsByInterrupt, decidedBy, merged, seen } = EVENTS[name];
    let effects: TurnEffects[Event] = {};
    for (const { on } of this.#acting('on')) {
      const handle = on[name];
      if (handle === undefined) continue;
      const act = () => handle(seen?.(facts, effects) ?? facts, turn);
      const next = await this.#result(name, act, { turn, signal, thrown });
      if (next === null && endsByInterrupt) return null;
      if (next !== null) effects = merged(effects, next);
      if (decidedBy.some((effect) => effects[effect] !== undefined)) break;
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
    for (const part of this.#acting('beforeRequest')) {
      const before = (await returned(part.beforeRequest(turn), turn.signal)) ?? {};
      if (before.tell !== undefined && before.tell.length > 0) {
        await tell(before.tell);
        before.told?.();
      }
      if (before.end !== undefined) return before.end;
    }
    return null;
  }

  /**
   * The results of the parts that act at this moment of a turn, one after another. There is none of
   * a part that throws, or for which an interrupt ends the wait. Rejects only with the store's
   * error.
   */
  async results<At extends Moment, Result>(
    moment: At,
    turn: TurnContext,
    act: (part: Acting<At>) => Awaitable<Result>,
  ): Promise<Result[]> {
    const results: Result[] = [];
    const how = { turn, signal: turn.signal, thrown: null };
    for (const part of this.#acting(moment)) {
      const result = await this.#result(moment, () => act(part), how);
      if (result !== null) results.push(result);
    }
    return results;
  }

  /** Never rejects. */
  async cleanUp(turn: TurnContext): Promise<void> {
    for (const part of this.#acting('cleanUp'))
      await this.#ended('cleanUp', () => part.cleanUp(turn), turn);
  }

  /**
   * Never rejects, because the error of one part must not keep a thread from being closed. Takes as
   * long as the slowest part.
   */
  async end(moment: 'closed' | 'endWork'): Promise<void> {
    const ends = this.#acting(moment).map((part) => this.#ended(moment, () => part[moment]()));
    await Promise.all(ends);
  }

  #acting<At extends Moment>(moment: At): Acting<At>[] {
    return this.#parts.filter((part): part is Acting<At> => part[moment] !== undefined);
  }

  /** The result of a part; `thrown` if it throws. */
  #attempt<Result>(moment: Moment, act: () => Result, thrown: Result): Result {
    try {
      return act();
    } catch (error) {
      this.#failed(moment, error);
      return thrown;
    }
  }

  /**
   * The result of a part; null if the signal aborts first, `thrown` if the part throws. Rejects
   * only with the store's error.
   */
  async #result<Result>(
    moment: Moment | keyof TurnEffects,
    act: () => Awaitable<Result>,
    { turn, signal, thrown }: { turn: TurnContext; signal: AbortSignal; thrown: Result },
  ): Promise<Result | null> {
    try {
      return await returned(act(), signal);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.#failed(moment, error, turn);
      return thrown;
    }
  }

  /** Never rejects. */
  async #ended(moment: Moment, end: () => Promise<void>, turn?: TurnContext): Promise<void> {
    try {
      await end();
    } catch (error) {
      this.#failed(moment, error, turn);
    }
  }

  #failed(moment: Moment | keyof TurnEffects, err: unknown, turn?: TurnContext): void {
    const { log, threadId } = this.#deps;
    log.error({ err, threadId, turnId: turn?.id, moment }, 'a part of a turn failed');
  }
}

/**
 * The result of a part; null if the signal aborts first. Adds a listener to the signal only for a
 * promise.
 */
function returned<T>(value: Awaitable<T>, signal: AbortSignal): Awaitable<T | null> {
  return value instanceof Promise ? orAborted(value, signal) : value;
}
