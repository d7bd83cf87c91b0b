import { isObject } from '../../base/json-value.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';
import { tokenCount } from '../http/token-count.ts';

/**
 * Reads the token counts of a completed response; null if the input or output count is missing or
 * not valid.
 */
export function tokenUsage(response: unknown): TokenUsageBreakdown | null {
  const usage = isObject(response) ? response.usage : null;
  if (!isObject(usage)) return null;
  const inputTokens = tokenCount(usage.input_tokens);
  const outputTokens = tokenCount(usage.output_tokens);
  if (inputTokens === null || outputTokens === null) return null;
  const input = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  return {
    inputTokens,
    cachedInputTokens: tokenCount(input.cached_tokens) ?? 0,
    cacheWriteInputTokens: tokenCount(input.cache_write_tokens) ?? 0,
    outputTokens,
    reasoningOutputTokens: tokenCount(output.reasoning_tokens) ?? 0,
    totalTokens: tokenCount(usage.total_tokens) ?? inputTokens + outputTokens,
  };
}
