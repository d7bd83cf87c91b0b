import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { Tool } from '../../tools/tool.ts';
import type { TurnContext, TurnOutcome, TurnPart, TurnPartDeps } from '../turn/turn-part.ts';
import { type AgentState, isAtRest } from './agent-state.ts';
import { agentsMessage } from './agents-message.ts';
import { usageWithAgents } from './agents-usage.ts';
import type { AgentToolDeps } from './tools/agent-tool-deps.ts';
import { closeAgent } from './tools/close-agent.ts';
import { resumeAgent } from './tools/resume-agent.ts';
import { sendInput } from './tools/send-input.ts';
import { spawnAgent } from './tools/spawn-agent.ts';
import { waitAgent } from './tools/wait-agent.ts';

/** How many agents of a session may be open. */
const OPEN_AGENTS_MAX = 200;
/** The most characters of agents' messages that one message to the model has, or one output of wait_agent. */
const TOLD_CHARS_MAX = 20_000;
const WAIT_CHARS_MAX = 40_000;
/** The parts of the context window for these. */
const TOLD_SHARE = 0.05;
const WAIT_SHARE = 0.2;
/** A cautious estimate. */
const CHARS_PER_TOKEN = 3;

/** Lets the model start agents. Tells it how they ended, and ends their turns when its own is interrupted. */
export class SubAgents implements TurnPart {
  readonly #deps: TurnPartDeps;
  /** By agent: the state that the model knows. */
  readonly #known = new Map<string, string>();
  /** The version of the tree at which the model was last told. Null: not since the thread was loaded. */
  #toldVersion: number | null = null;
  /** Whether the model has learned the states before, in what it was told last: then it need not read the messages again. */
  #wasTold = false;

  constructor(deps: TurnPartDeps) {
    this.#deps = deps;
  }

  tools(): Tool[] {
    const deps = this.#toolDeps();
    return deps === null ? [] : [spawnAgent(deps), sendInput(deps), resumeAgent(deps), waitAgent(deps), closeAgent(deps)];
  }

  /** Tells the model of agents that have ended since it was last told, and of all open ones if it does not know them. */
  async beforeRequest({ settings }: TurnContext): Promise<{ tell?: ResponseItem[] }> {
    const { agents, threadId } = this.#deps;
    const version = agents.version(threadId);
    const knowsAgents = this.#toldVersion !== null;
    if (version === this.#toldVersion) return {};
    const open = await agents.openAgents(threadId);
    this.#toldVersion = version;
    if (open.length === 0) return {};
    const states = await agents.states(threadId, open);
    const isNew = ([id, state]: [string, AgentState]) => this.#known.get(id) !== keyOf(state);
    const news = new Map([...states].filter((each) => isNew(each) && (isAtRest(each[1]) || !knowsAgents)));
    this.#learned(news);
    const charsMax = this.#wasTold && !knowsAgents ? 0 : this.#chars(settings.model, TOLD_SHARE, TOLD_CHARS_MAX);
    this.#wasTold = false;
    return news.size === 0 ? {} : { tell: [agentsMessage(news, charsMax)] };
  }

  /** The model is told again of all open agents, with the next request, but not their messages: they may be what was too long. */
  compacted(): AuthoredItem[] {
    this.#forget();
    this.#wasTold = true;
    return [];
  }

  /** What the model was told in a failed turn may not be stored. */
  turnEnded(_turn: TurnContext, { status }: TurnOutcome): Record<string, never> {
    if (status === 'failed') this.#forget();
    return {};
  }

  /** The thread is reverted or closed. The model may no longer have read what it was told. */
  async endWork(): Promise<void> {
    this.#forget();
  }

  async cleanUp({ signal, interruptCause }: TurnContext): Promise<void> {
    if (!signal.aborted) return;
    const { agents, threadId } = this.#deps;
    // It must not go on with another agent, whose denials are counted anew.
    if (interruptCause === 'guardian') agents.interruptAbove(threadId, interruptCause);
    const endsServer = interruptCause === 'close' || interruptCause === 'clientGone' || interruptCause === 'shutdown';
    await agents.interruptBelow(threadId, endsServer ? interruptCause : 'parent');
  }

  /** Agents that work for the thread have used tokens. Tells clients, once the thread itself has a turn that used some. */
  agentsUsed(): void {
    const { threadId, outbox, agents, record } = this.#deps;
    const { tokenUsage } = record();
    if (tokenUsage === null) return;
    const shown = usageWithAgents(tokenUsage.usage, agents.usage.below(threadId));
    const params = { threadId, turnId: tokenUsage.turnId, tokenUsage: shown };
    void outbox.announce([{ method: 'thread/tokenUsage/updated', params }]);
  }

  #learned(states: ReadonlyMap<string, AgentState>): void {
    for (const [id, state] of states) this.#known.set(id, keyOf(state));
  }

  #forget(): void {
    this.#toldVersion = null;
    this.#known.clear();
  }

  /** The characters in this part of the model's context window. */
  #chars(model: string, share: number, charsMax: number): number {
    const { tokens } = this.#deps.configuration().contextWindow(model);
    return Math.min(charsMax, Math.floor(tokens * CHARS_PER_TOKEN * share));
  }

  /** Null: the model cannot start agents. */
  #toolDeps(): AgentToolDeps | null {
    const { threadId, clock, agents, record, configuration } = this.#deps;
    const settings = configuration().agents;
    const depth = spawnSource(record().source)?.depth ?? 0;
    if (settings === null || depth >= settings.depth) return null;
    return {
      threadId,
      clock,
      tree: agents,
      settings,
      limits: { running: settings.running, open: OPEN_AGENTS_MAX },
      told: (states) => this.#learned(states),
      charsMax: (model) => this.#chars(model, WAIT_SHARE, WAIT_CHARS_MAX),
    };
  }
}

/** Two turns that end alike are two states. */
function keyOf({ status, turnId }: AgentState): string {
  return `${status} ${turnId}`;
}
