import type { JsonObject } from '../../base/json-value.ts';
import { type JsonText, jsonText } from '../../base/text/json-text.ts';
import { flatSpecName } from '../flat-tool-name.ts';
import { sentParameters } from '../http/parameters/optional-parameter.ts';
import type { SentSettings } from '../http/parameters/sent-settings.ts';
import type { BodyTools } from '../http/provider-api.ts';
import type { ModelRequest, ToolSpec } from '../model.ts';
import { chatMessages } from './chat-messages.ts';
import { CHAT_PARAMETERS } from './chat-parameters.ts';
import { sendsThoughts } from './replayed-thoughts.ts';

/**
 * The body of a Chat Completions request. Settings without a value are left out, since servers
 * refuse null.
 */
export async function chatBody(
  request: ModelRequest,
  settings: SentSettings,
  { pace }: BodyTools,
): Promise<JsonText> {
  const body: JsonObject = {
    model: request.model,
    messages: await chatMessages(request, { pace, withThoughts: sendsThoughts(settings) }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(chatTool) }),
    stream: true,
    ...sentParameters(CHAT_PARAMETERS, request, settings),
  };
  return jsonText(body, pace);
}

/** A custom tool, which takes one string, becomes a function with one argument. */
function chatTool(tool: ToolSpec): JsonObject {
  const { description } = tool;
  const parameters: JsonObject =
    tool.type !== 'custom'
      ? tool.parameters
      : {
          type: 'object',
          properties: { input: { type: 'string' } },
          required: ['input'],
          additionalProperties: false,
        };
  return { type: 'function', function: { name: flatSpecName(tool), description, parameters } };
}
