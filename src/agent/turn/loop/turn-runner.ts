import type { TurnError } from '../../../protocol/generated/types.ts';
import type { Tool } from '../../../tools/tool.ts';
import { ThreadCalls } from '../../calls/thread-calls.ts';
import { checkWindow, promptTooLarge } from '../../prompt/check-window.ts';
import { modelRequest } from '../../prompt/model-request.ts';
import type { ThreadContext } from '../../thread-context.ts';
import type { ActiveTurn } from '../active-turn.ts';
import { type PreparedRequest, threadConversation } from '../conversation.ts';
import type { TurnBeginning } from '../turn-opening.ts';
import { runTurn } from './run-turn.ts';

/** Runs the turns of one thread, with the prompt and the calls that its turns share. */
export class TurnRunner {
  readonly calls: ThreadCalls;
  readonly #thread: ThreadContext;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
    this.calls = new ThreadCalls(thread);
  }

  /** Runs a turn to its end. Never rejects. */
  async run(turn: ActiveTurn, beginning: TurnBeginning): Promise<void> {
    const { state, parts } = this.#thread;
    const request = (of: ActiveTurn, tools: readonly Tool[]) => this.#request(of, tools);
    const conversation = beginning.conversation ?? threadConversation({ parts, request });
    const shared = { thread: this.#thread, calls: this.calls };
    await runTurn({ ...shared, turn, conversation }, beginning);
    if (state.turn === turn) state.turn = null;
  }

  /**
   * Builds the next model request from the thread's history and these tools. Returns the error if
   * it is too large.
   */
  async #request(turn: ActiveTurn, tools: readonly Tool[]): Promise<PreparedRequest | TurnError> {
    const { id, state, history, usage, services } = this.#thread;
    const { configuration } = state;
    const { promptBudget } = services.limits;
    const prompt = await history.prompt();
    if (prompt === null) return promptTooLarge(promptBudget.promptBytesMax);
    const { model } = turn.settings;
    const contextWindow = configuration.contextWindow(model);
    const error = checkWindow(prompt, { model, contextWindow, last: usage.last });
    if (error !== null) return error;
    this.calls.know(prompt);
    usage.noteRequest(prompt.tokensOfModel);
    const end = await promptBudget.requesting(history, turn.signal);
    return {
      request: modelRequest(turn, { threadId: id, configuration, input: prompt.items, tools }),
      end,
    };
  }
}
