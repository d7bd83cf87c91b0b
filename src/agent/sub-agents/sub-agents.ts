import type { CollabAgentState, ResponseItem } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { Tool } from '../../tools/tool.ts';
import type { TurnContext, TurnPart, TurnPartDeps } from '../turn/turn-part.ts';
import { isAtRest } from './agent-state.ts';
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

/** Lets the model start agents. Tells it how they ended, and ends their turns when its own is interrupted. */
export class SubAgents implements TurnPart {
  readonly #deps: TurnPartDeps;
  /** By agent: the state that the model knows, as JSON. */
  readonly #known = new Map<string, string>();
  /** The version of the tree at which the model was last told. Null: not since the thread was loaded. */
  #toldVersion: number | null = null;

  constructor(deps: TurnPartDeps) {
    this.#deps = deps;
  }

  tools(): Tool[] {
    const deps = this.#toolDeps();
    return deps === null ? [] : [spawnAgent(deps), sendInput(deps), resumeAgent(deps), waitAgent(deps), closeAgent(deps)];
  }

  /** Tells the model of agents that have ended since it was last told, and of all open ones if it does not know them. */
  async beforeRequest(): Promise<{ tell?: ResponseItem[] }> {
    const { agents, threadId } = this.#deps;
    const version = agents.version(threadId);
    const knowsAgents = this.#toldVersion !== null;
    if (version === this.#toldVersion) return {};
    const open = await agents.openAgents(threadId);
    this.#toldVersion = version;
    if (open.length === 0) return {};
    const states = await agents.states(threadId, open);
    const isNew = ([id, state]: [string, CollabAgentState]) => this.#known.get(id) !== JSON.stringify(state);
    const news = new Map([...states].filter((each) => isNew(each) && (isAtRest(each[1]) || !knowsAgents)));
    this.#learned(news);
    return news.size === 0 ? {} : { tell: [agentsMessage(news)] };
  }

  /** The model is told again of all open agents, with the next request. */
  compacted(): AuthoredItem[] {
    this.#toldVersion = null;
    this.#known.clear();
    return [];
  }

  async cleanUp({ signal, interruptCause }: TurnContext): Promise<void> {
    if (!signal.aborted) return;
    const isByUser = interruptCause === null || ['user', 'guardian', 'hook'].includes(interruptCause);
    await this.#deps.agents.interruptBelow(this.#deps.threadId, isByUser ? 'parent' : interruptCause);
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

  #learned(states: ReadonlyMap<string, CollabAgentState>): void {
    for (const [id, state] of states) this.#known.set(id, JSON.stringify(state));
  }

  /** Null: the model cannot start agents. */
  #toolDeps(): AgentToolDeps | null {
    const { threadId, clock, agents, record, configuration } = this.#deps;
    const settings = configuration().agents;
    const depth = spawnSource(record().source)?.depth ?? 0;
    if (settings === null || depth >= settings.depth) return null;
    return {
      threadId,
      sessionId: record().sessionId,
      clock,
      tree: agents,
      settings,
      limits: { running: settings.running, open: OPEN_AGENTS_MAX },
      told: (states) => this.#learned(states),
    };
  }
}
