import { isObject } from '../../base/json-value.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { tokenCount } from '../http/token-count.ts';

/**
 * Reads the token counts of a response; null if the input or output count is missing or not valid.
 */
export function chatUsage(usage: unknown): TokenUsageBreakdown | null {
  if (!isObject(usage)) return null;
  const inputTokens = tokenCount(usage.prompt_tokens);
  const outputTokens = tokenCount(usage.completion_tokens);
  if (inputTokens === null || outputTokens === null) return null;
  const input = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return {
    inputTokens,
    cachedInputTokens:
      tokenCount(input.cached_tokens) ?? tokenCount(usage.prompt_cache_hit_tokens) ?? 0,
    cacheWriteInputTokens: tokenCount(input.cache_write_tokens) ?? 0,
    outputTokens,
    reasoningOutputTokens: tokenCount(output.reasoning_tokens) ?? 0,
    totalTokens: tokenCount(usage.total_tokens) ?? inputTokens + outputTokens,
  };
}
