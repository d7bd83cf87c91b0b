import { isObject } from '../../base/json-value.ts';
import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';

/** The counts of a chat answer; null where they were not told in a form that can be added up. */
export function chatUsage(usage: unknown): TokenUsageBreakdown | null {
  if (!isObject(usage)) return null;
  const inputTokens = count(usage.prompt_tokens);
  const outputTokens = count(usage.completion_tokens);
  if (inputTokens === null || outputTokens === null) return null;
  const input = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return {
    inputTokens,
    cachedInputTokens: count(input.cached_tokens) ?? count(usage.prompt_cache_hit_tokens) ?? 0,
    cacheWriteInputTokens: count(input.cache_write_tokens) ?? 0,
    outputTokens,
    reasoningOutputTokens: count(output.reasoning_tokens) ?? 0,
    totalTokens: count(usage.total_tokens) ?? inputTokens + outputTokens,
  };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
