/**
 * The context windows of well-known models, in tokens: what a prompt and its response may have
 * together, or where a maker limits prompts by themselves, that limit. The first pattern that fits
 * the name counts. Names may have a vendor and a region before them.
 */
const WINDOWS: readonly [pattern: RegExp, tokens: number][] = [
  [/^gpt-4\.1/, 1_047_576],
  [/^(gpt-4o|chatgpt-4o|gpt-4-turbo)/, 128_000],
  [/^gpt-oss/, 131_072],
  [/^gpt-5(\.\d+)?-chat/, 128_000],
  [/^gpt-5/, 272_000],
  [/^codex-mini/, 200_000],
  [/^o1-(mini|preview)/, 128_000],
  [/^o[134](-|$)/, 200_000],
  [/^claude/, 200_000],
  [/^gemini-(2|3)/, 1_048_576],
  [/^grok-4([.-]\d+)?-fast/, 2_000_000],
  [/^grok-(4|code-fast)/, 256_000],
  [/^grok-3/, 131_072],
  [/^deepseek-(chat|reasoner|v3|r1)/, 128_000],
  [/^kimi-k2-(0905|turbo|thinking|instruct-0905)/, 262_144],
  [/^kimi-k2/, 131_072],
  [/^glm-4\.6/, 200_000],
  [/^glm-4\.5/, 131_072],
  [/^qwen3-coder/, 262_144],
  [/^qwen3-max/, 262_144],
  [/^minimax-m2/, 204_800],
  [/^(mistral-(large|medium|small)|magistral|devstral)/, 131_072],
  [/^codestral/, 262_144],
  [/^llama-?(3\.[123])/, 131_072],
];

/** A fine-tuned model, or the region and the vendor in the names of Amazon Bedrock. */
const PREFIX =
  /^ft:|^(?:(?:us|us-gov|eu|apac|jp|au|ca|global)\.)?(?:anthropic|openai|meta|mistral|qwen|deepseek)\./;

/** Returns the context window of a well-known model in tokens, or null. */
export function knownContextWindow(model: string): number | null {
  const name = plainModelName(model);
  return WINDOWS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** The name of a model in lower case, without the vendor and the region before it. */
export function plainModelName(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(PREFIX, '');
}
