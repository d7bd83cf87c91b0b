import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { fitsLimits } from '../../mcp/host/limits/json-limits.ts';
import { McpError } from '../../mcp/messages/mcp-error.ts';
import type { McpCallOutcome, Progress } from '../../mcp/messages/mcp-host.ts';
import { judgeMcpCall } from '../../policy/mcp/judge-mcp-call.ts';
import type { Permit } from '../../policy/permissions/permit.ts';
import type { SessionGrants } from '../../policy/permissions/session-grants.ts';
import type { McpToolCallResult, UntimedItem } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import {
  type Action,
  type ActionHost,
  type ActionOutcome,
  type Ask,
  failed,
  type Judgement,
  type OpenItem,
  type PlannedAction,
  UNCONFINED,
} from '../../tools/action.ts';
import { type Denial, refusalText } from '../../tools/denial.ts';
import { mcpApproval } from './mcp-approval.ts';
import type { McpToolCall } from './mcp-tool-call.ts';
import { runSafetyCheck } from './run-safety-check.ts';
import { failureFor, timedOutput } from './timed-output.ts';
import { toolApprovalMode, toolKey } from './tool-key.ts';

type McpItem = Extract<UntimedItem, { type: 'mcpToolCall' }>;

/**
 * The largest arguments of a call: more values hold up the main thread for too long when they are
 * handed to the thread of MCP.
 */
const ARGUMENTS = { chars: 16 * 1024 * 1024, values: 50_000, depth: 1_000 };
const TOO_LARGE = `The arguments are too large: a call has at most ${ARGUMENTS.values} values and ${ARGUMENTS.chars / 1024 / 1024} MiB.`;

/**
 * Calls a tool of an MCP server, after policy, the configured safety check and the reviewer have
 * allowed it.
 */
export class McpCallAction implements Action {
  readonly kind = 'mcpTool';
  readonly item: McpItem;
  /** The check may take a while, and refused calls are shown, too. */
  readonly isShownFirst = true;
  readonly #call: McpToolCall;
  readonly #args: JsonObject;

  constructor(call: McpToolCall, args: JsonObject) {
    const { used, tool, context } = call;
    this.#call = call;
    this.#args = args;
    this.item = {
      type: 'mcpToolCall',
      id: context.itemId,
      server: used.config.name,
      tool: tool.name,
      status: 'inProgress',
      arguments: args,
      mcpAppUi: null,
      appContext: null,
      pluginId: null,
      readOnlyHint: tool.annotations?.readOnlyHint ?? null,
      result: null,
      error: null,
      durationMs: null,
    };
  }

  static prepare(args: JsonValue, call: McpToolCall): McpCallAction | ActionOutcome {
    const given = args ?? {};
    if (!isObject(given)) return failed(`${call.tool.name} needs an object of arguments.`);
    if (!fitsLimits(ARGUMENTS, given)) return failed(TOO_LARGE);
    return new McpCallAction(call, given as JsonObject);
  }

  async judge(settings: ThreadSettings, grants: SessionGrants): Promise<Judgement> {
    const { used, tool } = this.#call;
    const mode = toolApprovalMode(used.config, tool);
    const isGranted = grants.allowsMcpTool(toolKey(used.config, tool));
    const judged = judgeMcpCall({ mode, annotations: tool.annotations, isGranted }, settings);
    if (typeof judged === 'object') return judged;
    const checked = await this.#check();
    if (checked?.verdict === 'block')
      return {
        refuse: `A safety check blocked this call. ${checked.reason ?? 'It gave no reason.'}`,
      };
    if (checked?.verdict === 'ask')
      return {
        run: UNCONFINED,
        demand: checked.reason ?? 'A safety check wants this call to be reviewed.',
      };
    if (judged === 'run') return { run: UNCONFINED };
    return {
      ask: mcpApproval(this.#call, this.#args, {
        reason: null,
        describe: () => this.describe(UNCONFINED),
      }),
    };
  }

  approval(permit: Permit, reason: string): Ask {
    return mcpApproval(this.#call, this.#args, {
      reason,
      describe: () => this.describe(permit, { reason }),
    });
  }

  describe(_permit: Permit, claims: JsonObject = {}): PlannedAction {
    const { used, tool, context } = this.#call;
    return {
      targetItemId: context.itemId,
      shown: {
        type: 'mcpToolCall',
        server: used.config.name,
        toolName: tool.name,
        toolTitle: tool.title,
        connectorId: null,
        connectorName: null,
      },
      planned: {
        tool: 'mcp_tool_call',
        server: used.config.name,
        toolName: tool.name,
        arguments: this.#args,
      },
      files: { definition: toolKey(used.config, tool) },
      claims: {
        toolTitle: tool.title,
        toolDescription: tool.description,
        annotations: tool.annotations as JsonObject | null,
        ...claims,
      },
    };
  }

  async perform(
    _permit: Permit,
    _shown: OpenItem | null,
    host: ActionHost,
  ): Promise<ActionOutcome> {
    const { used, tool, context, of } = this.#call;
    const { threadId, turnId, itemId } = context;
    const { state, services } = of.thread;
    const { clock } = services.runtime;
    const startedMs = clock.monotonic();
    const wallMs = () => clock.monotonic() - startedMs;
    try {
      await used.server.settled(host.signal);
      this.#requireSameDefinition();
      const charsMax = charsOfTokens(state.configuration.config.get('tool_output_token_limit'));
      const request = {
        op: 'callTool' as const,
        name: tool.name,
        arguments: this.#args,
        meta: { threadId, turnId },
        charsMax,
      };
      const value = await used.server.request(request, {
        timeoutMs: used.config.toolTimeoutMs,
        signal: host.signal,
        user: used.user,
        tag: {
          threadId,
          turnId,
          itemId,
          host,
          server: used.config.name,
          settings: context.settings,
        },
        onProgress: this.#progress(host),
        beforeRepeat: () => this.#requireSameDefinition(),
      });
      const { isError, output, result } = value as unknown as McpCallOutcome;
      return {
        output: timedOutput(output, wallMs()),
        success: !isError,
        item: this.#ended(isError ? 'failed' : 'completed', { result, durationMs: wallMs() }),
      };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      const message = host.signal.aborted
        ? refusalText({ by: 'interrupted', cause: host.interruptCause ?? 'user' })
        : error.message;
      return {
        output: failureFor(message, wallMs()),
        success: false,
        item: this.#ended('failed', { message, durationMs: wallMs() }),
      };
    }
  }

  /**
   * Throws an McpError if the server has another definition of the tool by now than the one that
   * the call was judged by.
   */
  #requireSameDefinition(): void {
    const { used, tool } = this.#call;
    const { server: current } = used;
    const now = current.tools.find(({ name }) => name === tool.name);
    const isSame =
      now === undefined
        ? current.connected === null
        : toolKey(used.config, now) === toolKey(used.config, tool);
    // A tool that only reads has needed no approval.
    const isUnlisted = current.hasChangedTools && tool.annotations?.readOnlyHint !== true;
    if (isSame && !isUnlisted) return;
    const server = used.config.name;
    const message = isSame
      ? `This call was not made: the MCP server ${server} has announced changes of its tools and has not listed them yet. Call it again.`
      : `This call was not made: the MCP server ${server} has changed the definition of the tool ${tool.name} since the call was checked. ` +
        'Read its description again, and call it again if it is still right.';
    throw new McpError('other', message);
  }

  refused(denial: Denial): ActionOutcome {
    const message = refusalText(denial, 'The user declined this call.');
    return {
      output: failureFor(message, 0),
      success: false,
      item: this.#ended('failed', { message, durationMs: 0 }),
    };
  }

  #ended(
    status: 'completed' | 'failed',
    end: { durationMs: number; result?: McpToolCallResult; message?: string },
  ): McpItem {
    const error = end.message === undefined ? null : { message: end.message };
    return {
      ...this.item,
      status,
      result: end.result ?? null,
      error,
      durationMs: Math.round(end.durationMs),
    };
  }

  #check() {
    const { used, tool, context, settings, of } = this.#call;
    if (settings.check === null) return null;
    const { clock } = of.thread.services.runtime;
    const { processes, env } = of.thread.services.machine;
    const { threadId, turnId, itemId, settings: current } = context;
    const call = {
      threadId,
      turnId,
      itemId,
      cwd: current.cwd,
      server: used.config.name,
      tool: tool.name,
      arguments: this.#args,
      annotations: tool.annotations as JsonObject | null,
    };
    return runSafetyCheck(
      settings.check,
      call,
      { clock, processes, env, http: of.http },
      context.signal,
    );
  }

  #progress(host: ActionHost): (progress: Progress) => void {
    const { threadId, turnId, itemId } = this.#call.context;
    return ({ progress, total, message }) => {
      const text = message ?? (total === null ? String(progress) : `${progress}/${total}`);
      const params = { threadId, turnId, itemId, message: text };
      void host.emit({ method: 'item/mcpToolCall/progress', params }).catch(() => {});
    };
  }
}
