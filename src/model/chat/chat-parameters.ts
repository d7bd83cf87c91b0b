import type { JsonValue } from '../../base/json-value.ts';
import type { OptionalParameter } from '../http/parameters/optional-parameter.ts';
import { wireServiceTier } from '../http/wire-service-tier.ts';
import type { ModelRequest } from '../model.ts';

/** The parameters of Chat Completions that only some servers know. */
export const CHAT_PARAMETERS: readonly OptionalParameter[] = [
  {
    name: 'tool_choice',
    named: /tool[_ -]?choice/i,
    value: ({ tools }) => (tools.length === 0 ? undefined : 'auto'),
    loss: null,
  },
  {
    name: 'parallel_tool_calls',
    named: /parallel[_ -]?(?:tool|function)?[_ -]?(?:calls?|use)/i,
    value: ({ tools }) => (tools.length === 0 ? undefined : true),
    loss: null,
  },
  {
    name: 'stream_options',
    named: /stream[_ -]?options?|include[_ -]?usage/i,
    value: () => ({ include_usage: true }),
    loss: null,
  },
  {
    name: 'reasoning_effort',
    named: /reasoning[_. -]?effort|\bsupport (?:thinking|reasoning)\b/i,
    value: ({ effort }) => effort ?? undefined,
    loss: 'The model uses its default reasoning effort.',
  },
  {
    name: 'verbosity',
    named: /verbosity/i,
    value: ({ verbosity }) => verbosity ?? undefined,
    loss: 'The model chooses the length of its answers.',
  },
  {
    name: 'service_tier',
    named: /service[_ -]?tier/i,
    value: ({ serviceTier }) => (serviceTier === null ? undefined : wireServiceTier(serviceTier)),
    loss: 'The provider chooses the service tier.',
  },
  {
    name: 'response_format',
    named: /response[_ -]?format|json[_ -]?schema|structured[_ -]?output/i,
    clientFault: /\binvalid schema\b|schema for response_format|schema\.schema\b/i,
    value: responseFormat,
    loss: 'The answer may not have the form of the output schema.',
  },
];

function responseFormat({
  outputSchema,
  schemaIsOptional,
  tools,
}: ModelRequest): JsonValue | undefined {
  if (outputSchema === null || (schemaIsOptional && tools.length > 0)) return undefined;
  return {
    type: 'json_schema',
    json_schema: { name: 'output', strict: true, schema: outputSchema },
  };
}
