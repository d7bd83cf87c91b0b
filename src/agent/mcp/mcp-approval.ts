import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import { isObject } from '../../base/json-value.ts';
import type { McpTool } from '../../mcp/messages/mcp-host.ts';
import type { McpServerElicitationRequestResponse } from '../../protocol/generated/types.ts';
import { type Ask, type PlannedAction, UNCONFINED, type Verdict } from '../../tools/action.ts';
import { unanswered } from '../../tools/denial.ts';
import type { McpToolCall } from './mcp-tool-call.ts';
import { storedToolKey, toolApprovalMode, toolKey } from './tool-key.ts';

interface ApprovalOptions {
  /**
   * Why the safety check or a part of the turn wants a review; null: policy asks. Such an approval
   * is for one call.
   */
  reason: string | null;
  describe(): PlannedAction;
}

/**
 * The question whether a tool may be called. People are asked by an elicitation; their answer may
 * hold for the session, or always.
 */
export function mcpApproval(
  { used, tool, context, of }: McpToolCall,
  args: JsonObject,
  { reason, describe }: ApprovalOptions,
): Ask {
  const { name } = used.config;
  const { threadId, turnId, grants } = context;
  const mayLast = reason === null && toolApprovalMode(used.config, tool) === 'auto';
  return {
    permit: UNCONFINED,
    describe,
    async askPerson(ask) {
      const lasting = mayLast
        ? [
            'session',
            ...((await of.toolApprovals.mayStore(used.config, tool.name)) ? ['always'] : []),
          ]
        : [];
      const question = `Allow the MCP server ${name} to run the tool "${tool.name}"?`;
      const answer = await ask({
        method: 'mcpServer/elicitation/request',
        params: {
          threadId,
          turnId,
          serverName: name,
          mode: 'form',
          _meta: {
            ...factsOf(tool, args),
            ...(lasting.length > 0 ? { persist: lasting } : {}),
            ...(reason === null ? {} : { reason }),
          },
          message: reason === null ? question : `${question} ${reason}`,
          requestedSchema: { type: 'object', properties: {} },
        },
      });
      return answer.type === 'result' ? verdict(answer.result, lasting) : unanswered(answer);
    },
    async keep({ scope }, host) {
      if (scope === 'session' || scope === 'always')
        grants.allowMcpTool(toolKey(used.config, tool));
      if (scope !== 'always') return;
      const problem = await of.toolApprovals.store(
        used.config,
        tool.name,
        storedToolKey(used.config, tool),
      );
      if (problem === null) return;
      const message = `${problem} The tool ${tool.name} is allowed in this session only.`;
      await host.emit({ method: 'warning', params: { threadId, message } });
    },
  };
}

/** An answer is for this call only, unless it asks for more and that was offered. */
function verdict(
  { action, _meta }: McpServerElicitationRequestResponse,
  lasting: readonly string[],
): Verdict {
  if (action !== 'accept') return { deny: { by: 'declined' } };
  const persist = isObject(_meta) ? _meta.persist : undefined;
  const scope =
    typeof persist === 'string' && lasting.includes(persist)
      ? (persist as 'session' | 'always')
      : 'once';
  return { allow: UNCONFINED, scope };
}

/** The facts about the call, in the form that clients of this protocol know. */
function factsOf(tool: McpTool, args: JsonObject): JsonObject {
  return {
    codex_approval_kind: 'mcp_tool_call',
    tool_name: tool.name,
    ...(tool.title === null ? {} : { tool_title: tool.title }),
    ...(tool.description === null ? {} : { tool_description: tool.description }),
    tool_annotations: tool.annotations as JsonObject | null,
    tool_params: args,
    tool_params_display: shownParams(args),
  };
}

function shownParams(args: JsonObject): JsonValue {
  return Object.entries(args).map(([name, value]) => ({ name, value, display_name: name }));
}
