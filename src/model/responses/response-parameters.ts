import type { JsonObject } from '../../base/json-value.ts';
import type { WebSearch } from '../../config/web-search.ts';
import type { OptionalParameter } from '../http/parameters/optional-parameter.ts';
import { wireServiceTier } from '../http/wire-service-tier.ts';

/**
 * The parameters of the Responses API that only some servers know, beside the settings of
 * reasoning. `store` is none of them: without it, a provider keeps the conversation.
 */
export const RESPONSE_PARAMETERS: readonly OptionalParameter[] = [
  { name: 'tool_choice', named: /tool[_ -]?choice/i, value: () => 'auto', loss: null },
  {
    name: 'parallel_tool_calls',
    named: /parallel[_ -]?(?:tool|function)?[_ -]?(?:calls?|use)/i,
    value: () => true,
    loss: null,
  },
  {
    name: 'prompt_cache_key',
    named: /prompt[_ -]?cache[_ -]?key/i,
    value: ({ promptCacheKey }) => promptCacheKey,
    loss: null,
  },
  {
    name: 'client_metadata',
    named: /client[_ -]?metadata/i,
    value: ({ clientMetadata }, reasoning) => (reasoning === 'full' ? clientMetadata : undefined),
    loss: null,
  },
  {
    name: 'service_tier',
    named: /service[_ -]?tier/i,
    value: ({ serviceTier }) => (serviceTier === null ? undefined : wireServiceTier(serviceTier)),
    loss: 'The provider chooses the service tier.',
  },
  {
    name: 'text.verbosity',
    named: /verbosity/i,
    value: ({ verbosity }) => verbosity ?? undefined,
    loss: 'The model chooses the length of its answers.',
  },
  {
    name: 'text.format',
    named: /(?:text|response)[._ -]?format|json[_ -]?schema|structured[_ -]?output|^text$/i,
    clientFault: /\binvalid schema\b|schema for (?:response|text)[._]format|format\.schema\b/i,
    value: ({ outputSchema }) =>
      outputSchema === null
        ? undefined
        : { type: 'json_schema', strict: true, name: 'output', schema: outputSchema },
    loss: 'The answer may not have the form of the output schema.',
  },
  {
    name: 'web_search',
    named: /web[_ -]?search/i,
    value: ({ webSearch }) => (webSearch === undefined ? undefined : searchTool(webSearch)),
    loss: 'The provider does not search the web for the model.',
  },
];

/** The tool with which the provider searches the web itself. */
function searchTool({ mode, contextSize, allowedDomains, location }: WebSearch): JsonObject {
  return {
    type: 'web_search',
    external_web_access: mode !== 'cached',
    ...(mode === 'indexed' ? { indexed_web_access: true } : {}),
    ...(allowedDomains.length > 0 ? { filters: { allowed_domains: [...allowedDomains] } } : {}),
    ...(location === null ? {} : { user_location: { type: 'approximate', ...location } }),
    ...(contextSize === null ? {} : { search_context_size: contextSize }),
  };
}
