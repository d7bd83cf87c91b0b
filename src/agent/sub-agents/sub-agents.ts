import { CAUTIOUS_CHARS_PER_TOKEN, charsOfTokens } from '../../base/text/estimate-tokens.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { AuthoredItem } from '../../store/model-items.ts';
import { spawnSource } from '../../store/spawn-source.ts';
import type { Tool } from '../../tools/tool.ts';
import type { AgentState } from '../lineage/agent-state.ts';
import type { AgentSettings } from '../settings/thread-configuration.ts';
import type { ThreadContext } from '../thread-context.ts';
import { authored } from '../turn/turn-input.ts';
import type { TurnContext, TurnOutcome, TurnPart } from '../turn/turn-part.ts';
import { agentsMessage, knownAgentsMessage } from './agents-message.ts';
import { isAtRest } from './shown-state.ts';
import type { AgentToolDeps } from './tools/agent-tool-deps.ts';
import { closeAgent } from './tools/close-agent.ts';
import { resumeAgent } from './tools/resume-agent.ts';
import { sendInput } from './tools/send-input.ts';
import { spawnAgent } from './tools/spawn-agent.ts';
import { waitAgent } from './tools/wait-agent.ts';

/** How many agents of a session may be open. */
const OPEN_AGENTS_MAX = 200;
/**
 * The most characters of agents' messages that one message to the model has, or one output of
 * wait_agent.
 */
const TOLD_CHARS_MAX = 20_000;
const WAIT_CHARS_MAX = 40_000;
/** The parts of the context window for these. */
const TOLD_SHARE = 0.05;
const WAIT_SHARE = 0.2;

type KnownState = Pick<AgentState, 'status' | 'turnId'>;

/**
 * Lets the model start agents. Tells it how they ended, and ends their turns when its own is
 * interrupted.
 */
export class SubAgents implements TurnPart {
  readonly #thread: ThreadContext;
  /** By agent: the state that the model knows. */
  readonly #known = new Map<string, KnownState>();
  /**
   * The version of the tree at which the model was last told. Null: not since the thread was
   * loaded.
   */
  #toldVersion: number | null = null;
  /** The agents whose states are in outputs of calls that may not be stored yet. */
  readonly #unstored = new Set<string>();
  #offered: { agents: AgentSettings | null; tools: readonly Tool[] } | null = null;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
  }

  /** They are made once for a configuration. */
  tools(soFar: readonly Tool[]): readonly Tool[] {
    const { agents } = this.#thread.state.configuration;
    if (this.#offered?.agents !== agents) {
      const deps = this.#toolDeps();
      const tools = deps === null ? [] : toolsWith(deps);
      this.#offered = { agents, tools };
    }
    return [...soFar, ...this.#offered.tools];
  }

  /**
   * Tells the model of agents that have ended since it was last told, and of all open ones if it
   * does not know them.
   */
  async beforeRequest({
    settings,
  }: TurnContext): Promise<{ tell?: ResponseItem[]; told?(): void }> {
    // The outputs of the calls before this request.
    this.#unstored.clear();
    const { id: threadId } = this.#thread;
    const { agents } = this.#thread.services;
    const version = agents.version(threadId);
    const knowsAgents = this.#toldVersion !== null;
    if (version === this.#toldVersion) return {};
    const open = await agents.openAgents(threadId);
    const states = open.length === 0 ? [] : [...(await agents.states(threadId, open))];
    const news = new Map(
      states.filter(([id, state]) => !this.#knows(id, state) && (isAtRest(state) || !knowsAgents)),
    );
    const told = () => {
      this.#toldVersion = version;
      this.#learned(news);
    };
    if (news.size > 0)
      return {
        tell: [agentsMessage(news, this.#chars(settings.model, TOLD_SHARE, TOLD_CHARS_MAX))],
        told,
      };
    told();
    return {};
  }

  /**
   * The model reads again what it knew, but not the messages of the agents: they may be what was
   * too long.
   */
  readAgain(): AuthoredItem[] {
    const open = [...this.#known].filter(
      ([, { status }]) => status !== 'shutdown' && status !== 'notFound',
    );
    return open.length === 0 ? [] : authored('context', [knownAgentsMessage(new Map(open))]);
  }

  turnEnded(_turn: TurnContext, { status }: TurnOutcome): Record<string, never> {
    if (status === 'failed' && this.#unstored.size > 0) {
      for (const id of this.#unstored) this.#known.delete(id);
      this.#toldVersion = null;
    }
    this.#unstored.clear();
    return {};
  }

  /** The thread is reverted or closed. The model may no longer have read what it was told. */
  async endWork(): Promise<void> {
    this.#toldVersion = null;
    this.#known.clear();
  }

  async cleanUp({ signal, interruptCause }: TurnContext): Promise<void> {
    if (!signal.aborted) return;
    const { id: threadId } = this.#thread;
    const { agents } = this.#thread.services;
    // It must not go on with another agent, whose denials in a row are counted anew.
    if (interruptCause === 'guardian') agents.interruptAbove(threadId, interruptCause);
    const endsServer =
      interruptCause === 'close' ||
      interruptCause === 'clientGone' ||
      interruptCause === 'shutdown';
    await agents.interruptBelow(threadId, endsServer ? interruptCause : 'parent');
  }

  /** Two turns that end alike are two states. */
  #knows(id: string, { status, turnId }: KnownState): boolean {
    const known = this.#known.get(id);
    return known?.status === status && known.turnId === turnId;
  }

  #learned(states: ReadonlyMap<string, KnownState>): void {
    for (const [id, { status, turnId }] of states) this.#known.set(id, { status, turnId });
  }

  /** The characters in this part of the model's context window. */
  #chars(model: string, share: number, charsMax: number): number {
    const { tokens } = this.#thread.state.configuration.prompt.contextWindow(model);
    return Math.min(charsMax, Math.floor(charsOfTokens(tokens, CAUTIOUS_CHARS_PER_TOKEN) * share));
  }

  /** Null: the model cannot start agents. */
  #toolDeps(): AgentToolDeps | null {
    const { id: threadId, state, services } = this.#thread;
    const settings = state.configuration.agents;
    const depth = spawnSource(state.record.source)?.depth ?? 0;
    if (settings === null || depth >= settings.depth) return null;
    return {
      threadId,
      clock: services.runtime.clock,
      tree: services.agents,
      settings,
      limits: { running: settings.running, open: OPEN_AGENTS_MAX },
      told: (states) => {
        this.#learned(states);
        for (const id of states.keys()) this.#unstored.add(id);
      },
      charsMax: (model) => this.#chars(model, WAIT_SHARE, WAIT_CHARS_MAX),
    };
  }
}

function toolsWith(deps: AgentToolDeps): Tool[] {
  return [spawnAgent(deps), sendInput(deps), resumeAgent(deps), waitAgent(deps), closeAgent(deps)];
}
