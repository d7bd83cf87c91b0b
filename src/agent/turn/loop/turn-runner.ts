import type { TurnError } from '../../../protocol/generated/types.ts';
import type { Tool } from '../../../tools/tool.ts';
import { ThreadCalls, type ThreadCallsDeps } from '../../calls/thread-calls.ts';
import type { RawEvents } from '../../outbox/raw-events.ts';
import { mergedSteps } from '../../outbox/step.ts';
import { withAdditional } from '../../prompt/additional-context.ts';
import { checkWindow, promptTooLarge } from '../../prompt/check-window.ts';
import { modelRequest } from '../../prompt/model-request.ts';
import type { PromptHistory } from '../../prompt/prompt-history.ts';
import { requestIdentity } from '../../prompt/request-identity.ts';
import { previewPatch, threadPreview } from '../../prompt/thread-preview.ts';
import type { ActiveTurn } from '../active-turn.ts';
import type { PreparedRequest } from '../conversation.ts';
import { modelEntries } from '../turn-input.ts';
import type { TurnBeginning } from '../turn-opening.ts';
import { runTurn } from './run-turn.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Of more facts, the oldest are told again. */
const TOLD_MAX = 100;
/** Longer prompts are not prepared, because they would be in memory for longer. */
const PREPARED_BYTES_MAX = 1024 * 1024;

interface TurnRunnerDeps extends ThreadCallsDeps {
  history: PromptHistory;
  raw: RawEvents;
}

/** Runs the turns of one thread, with the prompt and the calls that its turns share. */
export class TurnRunner {
  readonly calls: ThreadCalls;
  readonly #deps: TurnRunnerDeps;
  /** The facts that clients have been told once in the thread, as JSON. */
  readonly #told = new Set<string>();
  /** The tools of the last request. */
  #tools: readonly Tool[] | null = null;

  constructor(deps: TurnRunnerDeps) {
    this.#deps = deps;
    this.calls = new ThreadCalls(deps);
  }

  /**
   * Lets the model prepare the first request of a turn, whose start is not stored yet. It will
   * probably have the tools of the last one.
   */
  prepare(turn: ActiveTurn): void {
    const { history, state, agent } = this.#deps;
    const { id, configuration, record } = state;
    const prompt = history.kept;
    if (prompt === null || prompt.bytes > PREPARED_BYTES_MAX || this.#tools === null) return;
    const sent = { threadId: id, configuration, input: prompt.items, tools: this.#tools };
    try {
      const identity = requestIdentity({ record, turn, kind: 'turn' });
      configuration.model.prepare?.({ ...modelRequest(turn, sent), ...identity });
    } catch (error) {
      // The request itself will fail in the same way, and the turn with it.
      agent.log.debug({ err: error, threadId: id }, 'a request could not be prepared');
    }
  }

  /** Runs a turn to its end. Never rejects. */
  async run(turn: ActiveTurn, beginning: TurnBeginning): Promise<void> {
    const { state } = this.#deps;
    await runTurn(this.#turnDeps(), turn, beginning);
    if (state.turn === turn) state.turn = null;
  }

  async #request(turn: ActiveTurn, tools: readonly Tool[]): Promise<PreparedRequest | TurnError> {
    const { history } = this.#deps;
    const { id, configuration, lastUsage: last } = this.#deps.state;
    const { promptBudget } = this.#deps.agent;
    this.#tools = tools;
    const prompt = await history.prompt();
    if (prompt === null) return promptTooLarge(promptBudget.promptBytesMax);
    const { model } = turn.settings;
    const contextWindow = configuration.contextWindow(model);
    const error = checkWindow(prompt, { model, contextWindow, last });
    if (error !== null) return error;
    this.calls.know(prompt);
    this.#deps.state.noteRequest(prompt.tokensOfModel);
    const end = await promptBudget.requesting(history, turn.signal);
    return {
      request: modelRequest(turn, { threadId: id, configuration, input: prompt.items, tools }),
      end,
    };
  }

  #isNews(facts: string): boolean {
    if (this.#told.has(facts)) return false;
    this.#told.add(facts);
    for (const oldest of this.#told) if (this.#told.size > TOLD_MAX) this.#told.delete(oldest);
    return true;
  }

  async #tellContext({ id, settings }: ActiveTurn): Promise<void> {
    const { state, agent, outbox, grants } = this.#deps;
    const { told: before } = state.record;
    const { instructions } = state.configuration;
    const now = agent.clock.now();
    const { told, messages } = await instructions.contextUpdate({
      settings,
      granted: grants.permissions,
      told: before,
      now,
    });
    if (messages.length === 0) return;
    // Input that has arrived meanwhile has told the model what its client adds.
    await outbox.commitMade(() => {
      const patch = { told: withAdditional(told, state.record.told) };
      state.keep(patch);
      return { entries: modelEntries(id, messages, 'context'), patch };
    });
  }

  #turnDeps(): TurnDeps {
    const { state, agent, outbox, parts, grants, raw } = this.#deps;
    const { clock, log, ids, clients } = agent;
    const { configuration } = state;
    return {
      threadId: state.id,
      model: configuration.model,
      outbox,
      raw,
      parts,
      calls: this.calls,
      clock,
      log,
      shownReasoning: configuration.shownReasoning,
      newId: () => ids.next(),
      drained: () => clients.drained({ threadId: state.id }),
      identity: (turn) =>
        requestIdentity({
          record: state.record,
          turn,
          kind: turn.kind === 'review' ? 'review' : 'turn',
        }),
      isNews: (facts) => this.#isNews(JSON.stringify(facts)),
      exceededStep: (turn) => state.exceededStep(turn),
      tokenUsage: () => state.record.tokenUsage?.usage ?? null,
      request: (turn, tools) => this.#request(turn, tools),
      tokensStep: (turn, usage) => {
        const isAside = turn.kind === 'review';
        if (usage !== null)
          return mergedSteps([
            state.tokensStep(turn, usage, { isAside }),
            parts.tokensUsed(turn, usage),
          ]);
        if (!isAside) state.noteUncounted();
        return null;
      },
      tellContext: (turn) => this.#tellContext(turn),
      previewStep: ({ item }) => {
        if (item.type !== 'userMessage') return {};
        const patch = previewPatch(state.record, threadPreview(item.content));
        state.keep(patch);
        return { patch };
      },
      statusStep: (status) => state.statusStep(status, clock.now()),
      endGrants: () => grants.endTurn(),
    };
  }
}
