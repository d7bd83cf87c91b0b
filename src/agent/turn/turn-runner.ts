import type { ResponseItem, TurnError } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/thread-store.ts';
import type { Tool } from '../../tools/tool.ts';
import { ThreadCalls, type ThreadCallsDeps } from '../calls/thread-calls.ts';
import { checkWindow, promptTooLarge } from '../prompt/check-window.ts';
import { modelRequest } from '../prompt/model-request.ts';
import { PromptHistory } from '../prompt/prompt-history.ts';
import { mergedSteps } from '../step.ts';
import type { ActiveTurn } from './active-turn.ts';
import type { PreparedRequest } from './conversation.ts';
import { runTurn, type TurnBeginning } from './run-turn.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Runs the turns of one thread, with the prompt and the calls that its turns share. */
export class TurnRunner {
  readonly calls: ThreadCalls;
  readonly #deps: ThreadCallsDeps;
  readonly #history: PromptHistory;

  constructor(deps: ThreadCallsDeps) {
    const { state, agent, outbox } = deps;
    this.#deps = deps;
    this.calls = new ThreadCalls(deps);
    this.#history = new PromptHistory({
      read: (cursor) => agent.store.readModelEntries(state.id, { cursor }),
      outbox,
      budget: agent.promptBudget,
    });
  }

  /** Adds stored entries to the prompt. */
  appended(entries: readonly LogEntry[]): void {
    this.#history.add(entries);
  }

  /** The history as the model reads it. Null: it is larger than a prompt can be. */
  async history(): Promise<readonly ResponseItem[] | null> {
    return (await this.#history.prompt())?.items ?? null;
  }

  /** Makes the next prompt read the history from the store again. */
  forgetHistory(): void {
    this.#history.forget();
  }

  /** Runs a turn to its end. Never rejects. */
  async run(turn: ActiveTurn, beginning: TurnBeginning): Promise<void> {
    const { state } = this.#deps;
    await runTurn(this.#turnDeps(), turn, beginning);
    if (state.turn === turn) state.turn = null;
  }

  /** Frees the memory of the history. */
  close(): void {
    this.#history.drop();
  }

  async #request(turn: ActiveTurn, tools: readonly Tool[]): Promise<PreparedRequest | TurnError> {
    const { id, configuration, record } = this.#deps.state;
    const { promptBudget } = this.#deps.agent;
    const prompt = await this.#history.prompt();
    if (prompt === null) return promptTooLarge(promptBudget.promptBytesMax);
    const { contextWindow } = configuration;
    const error = checkWindow(prompt, { model: turn.settings.model, contextWindow, last: record.tokenUsage?.usage.last ?? null });
    if (error !== null) return error;
    this.calls.know(prompt.items);
    const end = await promptBudget.requesting(this.#history, turn.signal);
    return { request: modelRequest(turn, { threadId: id, configuration, input: prompt.items, tools }), end };
  }

  #turnDeps(): TurnDeps {
    const { state, agent, outbox, parts, grants } = this.#deps;
    const { clock, log, ids, clients } = agent;
    const { configuration } = state;
    return {
      threadId: state.id,
      model: configuration.model,
      outbox,
      parts,
      calls: this.calls,
      clock,
      log,
      shownReasoning: configuration.shownReasoning,
      newId: () => ids.next(),
      drained: () => clients.drained({ threadId: state.id }),
      tokenUsage: () => state.record.tokenUsage?.usage ?? null,
      request: (turn, tools) => this.#request(turn, tools),
      tokensStep: (turn, usage) =>
        mergedSteps([state.tokensStep(turn.id, usage, { isAside: turn.kind === 'review' }), parts.tokensUsed(turn, usage)]),
      statusStep: (status) => state.statusStep(status, clock.now()),
      endGrants: () => grants.endTurn(),
    };
  }
}
