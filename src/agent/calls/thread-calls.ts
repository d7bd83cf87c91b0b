import { contextMessage } from '../../instructions/messages/context-message.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { LogEntry, StoredItem } from '../../store/log-entry.ts';
import { StoreError } from '../../store/store-error.ts';
import { UNCONFINED } from '../../tools/action.ts';
import type { UserCommand } from '../../tools/command/user-command.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import { Guardian } from '../guardian/guardian.ts';
import { ThreadItems } from '../items/thread-items.ts';
import type { Prompt } from '../prompt/ordered-prompt.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import { changedOutcome } from '../turn/turn-events.ts';
import type { ActionDeps } from './action-deps.ts';
import { BuiltInTools } from './built-in-tools.ts';
import { ClientQuestions } from './client-questions.ts';
import { performAction, performUserAction } from './perform-action.ts';
import { PersonReviewer } from './person-reviewer.ts';
import { ResponseCalls } from './response-calls.ts';
import { isToolCall, type ToolCall } from './run-tool-call.ts';

interface AskedRequest {
  /** The tools that were offered with the request. */
  tools: readonly Tool[];
  turn: ActiveTurn;
  /** Takes entries out that are not for the thread's log. */
  withoutOwn(entries: LogEntry[]): LogEntry[];
}

/** Runs the tool calls of one thread's model, and the commands of its user. */
export class ThreadCalls {
  readonly #thread: ThreadContext;
  readonly #actions: ActionDeps;
  readonly questions: ClientQuestions;
  readonly #items: ThreadItems;
  readonly #itemIds = new Set<string>();
  /**
   * Whether the ids of all items are known. Null: of none that were stored before the thread was
   * loaded.
   */
  #knowsAll: boolean | null = null;

  constructor(thread: ThreadContext) {
    const { id: threadId, state, services, outbox, raw, parts, grants, usage } = thread;
    const { clients } = services;
    const { clock, log } = services.runtime;
    const questions = new ClientQuestions({
      state,
      outbox,
      clients,
      waits: parts.get(BuiltInTools).waits,
    });
    this.questions = questions;
    this.#thread = thread;
    this.#items = new ThreadItems({
      threadId,
      clock,
      outbox,
      announce: raw.announce,
      drained: () => clients.drained({ threadId }),
    });
    this.#actions = {
      parts,
      guardian: parts.get(Guardian),
      person: new PersonReviewer(questions),
      questions,
      grants,
      items: this.#items,
      outbox,
      usage,
      log,
    };
  }

  /**
   * The calls of the response to a request that is about to be sent. The output of each is stored
   * with its item.
   */
  ofResponse({ tools, turn, withoutOwn }: AskedRequest): ResponseCalls {
    const { services, outbox, parts } = this.#thread;
    return new ResponseCalls(
      {
        turnId: turn.id,
        tools,
        withoutOwn,
        context: ({ call_id }) => this.#context(turn, call_id),
        before: (call) => parts.emit('call', { call }, turn),
        perform: (action, called) => performAction(action, turn, { ...this.#actions, called }),
        watches: (call) => parts.wants('called', call),
        after: async (call, outcome) => {
          const effects = (await parts.emit('called', { call, outcome }, turn)) ?? {};
          return { outcome: changedOutcome(outcome, effects.output), tell: effects.tell ?? [] };
        },
        store: (entries) => outbox.commit({ entries }),
        learnId: (call) => this.#learnId(call),
        // An output whose item could not be stored is owed. The model is not asked without it.
        settle: () => outbox.commit({}),
        pace: services.runtime.pace,
        log: services.runtime.log,
      },
      turn.signal,
    );
  }

  /**
   * Runs a user command, and returns the message about it for the model. Rejects only with the
   * store's error.
   */
  async runUserCommand(turn: ActiveTurn, command: UserCommand): Promise<ResponseItem> {
    const { prepareUserCommand } = await import('../../tools/command/user-command.ts');
    const { services, parts } = this.#thread;
    const { ids, pace } = services.runtime;
    const context = this.#context(turn, ids.next());
    const action = await pace.during(
      prepareUserCommand(command, context, parts.get(BuiltInTools).commandServices()),
    );
    const { output } = await performUserAction(action, UNCONFINED, turn, this.#actions);
    return contextMessage('user', [String(output)]);
  }

  /**
   * The id of the item for a web search: the model's own, which clients expect, unless another item
   * of the thread may have it.
   */
  searchItemId(modelId: string | null | undefined): string {
    return modelId && this.#knowsAll === true
      ? this.#itemId(modelId)
      : this.#thread.services.runtime.ids.next();
  }

  /**
   * Remembers the ids of the calls in the history, so that no new item gets one of them. Does so
   * once.
   */
  know({ items, isPart }: Prompt): void {
    if (this.#knowsAll !== null) return;
    this.#knowsAll = !isPart;
    for (const item of items) {
      if (isToolCall(item)) this.#itemIds.add(item.call_id);
      if (item.type === 'web_search_call' && item.id) this.#itemIds.add(item.id);
    }
  }

  /**
   * Asks the store for the id of this call, if the calls of the history are not all known. Rejects
   * with the store's error.
   */
  async #learnId({ call_id: fromItemId }: ToolCall): Promise<void> {
    if (this.#knowsAll !== false || this.#itemIds.has(fromItemId)) return;
    const { services, state } = this.#thread;
    try {
      await services.store.listItems(state.id, { fromItemId, direction: 'asc', limit: 1 });
      this.#itemIds.add(fromItemId);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'item_not_found') throw error;
    }
  }

  /**
   * The unfinished items of a turn that ends. From now on they complete as late items, after its
   * end.
   */
  runningOn(turnId: string): StoredItem[] {
    return this.#items.runOn(turnId);
  }

  #context(turn: ActiveTurn, callId: string): CallContext {
    const { state, grants } = this.#thread;
    return {
      threadId: state.id,
      turnId: turn.id,
      callId,
      // The calls of a review are not in the history, so a later turn could not know their ids.
      itemId:
        turn.kind === 'review' ? this.#thread.services.runtime.ids.next() : this.#itemId(callId),
      signal: turn.signal,
      get settings() {
        return turn.settings;
      },
      grants,
    };
  }

  /**
   * The id of a call's item. Providers may reuse call ids in later responses, but an item id is
   * unique in its thread.
   */
  #itemId(callId: string): string {
    const id = this.#itemIds.has(callId) ? this.#thread.services.runtime.ids.next() : callId;
    this.#itemIds.add(id);
    return id;
  }
}
