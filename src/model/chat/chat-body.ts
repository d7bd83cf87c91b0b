import { type JsonText, jsonText } from '../../base/json-text.ts';
import type { JsonObject } from '../../base/json-value.ts';
import { flatSpecName } from '../flat-tool-name.ts';
import type { BodyTools, ReasoningSent } from '../http/provider-api.ts';
import { wireServiceTier } from '../http/wire-service-tier.ts';
import type { ModelRequest, ToolSpec } from '../model.ts';
import { chatMessages } from './chat-messages.ts';

/**
 * The body of a Chat Completions request. Settings without a value are left out, and so are fields that only some servers
 * know: others refuse unknown fields.
 */
export async function chatBody(request: ModelRequest, reasoning: ReasoningSent, { pace }: BodyTools): Promise<JsonText> {
  const { effort, verbosity, serviceTier } = request;
  const outputSchema = request.schemaIsOptional && request.tools.length > 0 ? null : request.outputSchema;
  const body: JsonObject = {
    model: request.model,
    messages: await chatMessages(request.instructions, request.input, pace),
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
  return jsonText(body, pace);
}

/** A custom tool, which takes one string, becomes a function with one argument. */
function chatTool(tool: ToolSpec): JsonObject {
  const { description } = tool;
  const parameters: JsonObject =
    tool.type !== 'custom'
      ? tool.parameters
      : { type: 'object', properties: { input: { type: 'string' } }, required: ['input'], additionalProperties: false };
  return { type: 'function', function: { name: flatSpecName(tool), description, parameters } };
}
