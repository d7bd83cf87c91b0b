import { cutText } from '../../base/text/cut-text.ts';
import { isToolEnabled } from '../../config/mcp/mcp-server-config.ts';
import type { McpSettings } from '../../config/mcp/mcp-settings.ts';
import type { McpTool } from '../../mcp/messages/mcp-host.ts';
import type { ToolNamespace } from '../../model/model.ts';
import { NAMESPACE_DESCRIPTION_CHARS_MAX } from '../../model/offered-schema.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { Opening, TurnPart } from '../turn/turn-part.ts';
import { answerQuestion } from './answer-question.ts';
import { type AsideCall, callAside } from './call-aside.ts';
import { McpCallAction } from './mcp-call-action.ts';
import type { McpServices, McpThread } from './mcp-tool-call.ts';
import { mcpNamespaces, mcpToolNames } from './mcp-tool-names.ts';
import { resourceTools } from './resource-tools.ts';
import { type ThreadServer, ThreadServers } from './thread-servers.ts';
import { toolWarning } from './tool-warning.ts';
import { withoutSameNames } from './without-same-names.ts';

/** Offers the tools and resources of the MCP servers that the thread's configuration names. */
export class McpTools implements TurnPart {
  readonly #of: McpThread;
  readonly servers: ThreadServers;
  #isClosing = false;
  /** Nothing releases servers any more. */
  #isClosed = false;
  /**
   * The warnings about tools that are not offered, by server; those of several servers by ''. Each
   * is announced once.
   */
  readonly #warnings = new Map<string, string | null>();

  constructor(thread: ThreadContext, services: McpServices) {
    this.#of = { thread, ...services };
    const { id: threadId, state, outbox } = thread;
    this.servers = new ThreadServers({
      threadId,
      servers: thread.services.mcp,
      root: () => state.record.settings.cwd,
      announce: (announcements) => void outbox.announce(announcements),
      onQuestion: (question, tag, signal) => answerQuestion(question, tag, thread, signal),
    });
  }

  get settings(): McpSettings {
    return this.#of.thread.state.configuration.mcp.settings;
  }

  /** With another configuration, it uses the servers of that if it uses any. */
  opened(how: Opening): [] {
    if (how !== 'reconfigured' || this.servers.isInUse) this.start();
    return [];
  }

  /**
   * Starts the servers that the configuration names now, unless they are in use. Returns at once.
   */
  start(): void {
    if (!this.#isClosed) this.servers.use(this.settings);
  }

  /**
   * Waits for servers that are starting for the first time. Those that start again are offered as
   * they were; nothing waits for them.
   */
  async tools(soFar: readonly Tool[], signal: AbortSignal): Promise<readonly Tool[]> {
    return [...soFar, ...(await this.#tools(signal))];
  }

  async #tools(signal: AbortSignal): Promise<Tool[]> {
    this.start();
    const used = this.servers.all;
    if (used.length === 0) return [];
    await Promise.all(
      used
        .filter(({ server }) => server.connected === null && !server.hasFailed)
        .map(({ server }) => server.settled(signal)),
    );
    const known = used.filter(({ server }) => server.connected !== null);
    if (known.length === 0) return [];
    for (const { config, server } of known) this.#warn(config.name, toolWarning(config, server));
    const namespaces = mcpNamespaces(used.map(({ config }) => config.name));
    const all = known.flatMap((each) =>
      this.#toolsOf(each, namespaces.get(each.config.name) ?? each.config.name),
    );
    const { tools: offered, warning } = withoutSameNames(all);
    this.#warn('', warning);
    const hasResources = known.some(
      ({ server }) => server.connected?.capabilities.resources !== undefined,
    );
    return [...(hasResources ? resourceTools(this.servers, this.#of) : []), ...offered];
  }

  /**
   * Calls a tool for another part, without asking anybody. Null: there is no server of this name.
   * Rejects if the call fails.
   */
  callAside(call: AsideCall, signal: AbortSignal): Promise<string> | null {
    this.start();
    const used = this.servers.find(call.server);
    return used && callAside(used, call, signal);
  }

  async closed(): Promise<void> {
    this.#isClosing = true;
  }

  /**
   * The thread is closed or reverted. The servers end a moment later, unless other threads use
   * them.
   */
  async endWork(): Promise<void> {
    this.#isClosed = this.#isClosing;
    this.servers.release();
  }

  #warn(server: string, message: string | null): void {
    const isNew = message !== (this.#warnings.get(server) ?? null);
    this.#warnings.set(server, message);
    const { id: threadId, outbox } = this.#of.thread;
    if (isNew && message !== null)
      void outbox.announce([{ method: 'warning', params: { threadId, message } }]);
  }

  #toolsOf(used: ThreadServer, name: string): Tool[] {
    const { server, config } = used;
    const enabled = server.tools
      .filter((tool) => isToolEnabled(config, tool.name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = mcpToolNames(
      enabled.map((tool) => tool.name),
      name,
    );
    const instructions = server.connected?.instructions ?? null;
    const description =
      instructions === null
        ? `The tools of the MCP server ${config.name}.`
        : cutText(instructions, NAMESPACE_DESCRIPTION_CHARS_MAX);
    return enabled.map((tool) =>
      this.#toolOf(used, tool, {
        name: names.get(tool.name) ?? tool.name,
        namespace: { name, description },
      }),
    );
  }

  #toolOf(
    used: ThreadServer,
    tool: McpTool,
    { name, namespace }: { name: string; namespace: ToolNamespace },
  ): Tool {
    const onlyReads = tool.annotations?.readOnlyHint === true;
    return {
      spec: {
        type: 'function',
        name,
        namespace,
        description: tool.description ?? tool.title ?? '',
        parameters: tool.inputSchema,
      },
      // The model's name for it may be another one.
      hookForm: { otherName: `mcp__${used.config.name}__${tool.name}` },
      ...(onlyReads || used.config.callsInParallel ? {} : { isExclusive: true as const }),
      prepare: async (args, context) =>
        McpCallAction.prepare(args, {
          used,
          tool,
          context,
          settings: this.settings,
          of: this.#of,
        }),
    };
  }
}
