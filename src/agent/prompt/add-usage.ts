import type { TokenUsageBreakdown } from '../../protocol/generated/types.ts';

/** Adds the usage of a response to the earlier usage, which is null if there was none. */
export function addUsage(
  before: TokenUsageBreakdown | null,
  last: TokenUsageBreakdown,
): TokenUsageBreakdown {
  if (before === null) return last;
  return {
    totalTokens: before.totalTokens + last.totalTokens,
    inputTokens: before.inputTokens + last.inputTokens,
    cachedInputTokens: before.cachedInputTokens + last.cachedInputTokens,
    cacheWriteInputTokens: (before.cacheWriteInputTokens ?? 0) + (last.cacheWriteInputTokens ?? 0),
    outputTokens: before.outputTokens + last.outputTokens,
    reasoningOutputTokens: before.reasoningOutputTokens + last.reasoningOutputTokens,
  };
}
