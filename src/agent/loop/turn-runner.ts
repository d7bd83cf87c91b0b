import type { TurnError } from '../../protocol/generated/types.ts';
import type { Tool } from '../../tools/tool.ts';
import { ThreadCalls } from '../calls/thread-calls.ts';
import { checkWindow, promptTooLarge } from '../prompt/check-window.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { ActiveTurn } from '../turn/active-turn.ts';
import { type PreparedRequest, threadConversation } from '../turn/conversation.ts';
import { modelRequest } from '../turn/model-request.ts';
import { requestIdentity } from '../turn/request-identity.ts';
import type { TurnBeginning } from '../turn/turn-opening.ts';
import { runTurn } from './run-turn.ts';

/** Longer prompts are not prepared, because they would be in memory for longer. */
const PREPARED_BYTES_MAX = 1024 * 1024;

/** Runs the turns of one thread, with the prompt and the calls that its turns share. */
export class TurnRunner {
  readonly calls: ThreadCalls;
  readonly #thread: ThreadContext;
  /** The tools of the last request. */
  #tools: readonly Tool[] | null = null;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
    this.calls = new ThreadCalls(thread);
  }

  /**
   * Lets the model prepare the first request of a turn, whose start is being stored. It will
   * probably have the tools of the last one. If the start cannot be stored, the turn has ended.
   */
  prepare(turn: ActiveTurn, stored: Promise<void>): void {
    stored.catch(() => turn.end());
    const { id, history, state, services } = this.#thread;
    const { configuration, record } = state;
    const prompt = history.kept;
    if (prompt === null || prompt.bytes > PREPARED_BYTES_MAX || this.#tools === null) return;
    const sent = { threadId: id, configuration, input: prompt.items, tools: this.#tools };
    try {
      const identity = requestIdentity({ record, turn, kind: 'turn' });
      configuration.model.prepare?.({ ...modelRequest(turn, sent), ...identity }, turn.over);
    } catch (error) {
      // The request itself will fail in the same way, and the turn with it.
      services.runtime.log.debug({ err: error, threadId: id }, 'a request could not be prepared');
    }
  }

  /** Runs a turn to its end. Never rejects. */
  async run(turn: ActiveTurn, beginning: TurnBeginning): Promise<void> {
    const { state, parts } = this.#thread;
    const request = (asking: ActiveTurn, tools: readonly Tool[]) => this.#request(asking, tools);
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
    this.#tools = tools;
    const prompt = await history.prompt();
    if (prompt === null) return promptTooLarge(promptBudget.promptBytesMax);
    const { model } = turn.settings;
    const contextWindow = configuration.prompt.contextWindow(model);
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
