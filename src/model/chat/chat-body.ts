import type { JsonObject } from '../../base/json-value.ts';
import type { ReasoningSent } from '../http/provider-api.ts';
import { wireServiceTier } from '../http/wire-service-tier.ts';
import type { ModelRequest, ToolSpec } from '../model.ts';
import { chatMessages } from './chat-messages.ts';

/**
 * The body of a Chat Completions request. Settings without a value are left out, and so are fields that only some servers
 * know: others refuse unknown fields.
 */
export function chatBody(request: ModelRequest, reasoning: ReasoningSent): JsonObject {
  const { effort, verbosity, serviceTier, outputSchema } = request;
  return {
    model: request.model,
    messages: chatMessages(request.instructions, request.input),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(chatTool), tool_choice: 'auto', parallel_tool_calls: true }),
    stream: true,
    stream_options: { include_usage: true },
    ...(effort === null || reasoning === 'none' ? {} : { reasoning_effort: effort }),
    ...(verbosity === null ? {} : { verbosity }),
    ...(serviceTier === null ? {} : { service_tier: wireServiceTier(serviceTier) }),
    ...(outputSchema === null
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: 'output', strict: true, schema: outputSchema } } }),
  };
}

/** A custom tool, which takes one string, becomes a function with one argument. */
function chatTool(tool: ToolSpec): JsonObject {
  const { name, description } = tool;
  const parameters: JsonObject =
    tool.type === 'function'
      ? tool.parameters
      : { type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false };
  return { type: 'function', function: { name, description, parameters } };
}
