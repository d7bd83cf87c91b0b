/** The codes and types by which providers refuse a request because its prompt is too long. */
const CODES = new Set([
  'context_length_exceeded',
  'exceed_context_size_error',
  'context_window_exceeded',
  'model_max_prompt_tokens_exceeded',
  'request_too_large',
  'prompt_too_long',
  'string_above_max_length',
]);

/** How providers say it in words alone. */
const TEXTS = [
  // vLLM, DeepSeek, OpenRouter, Mistral, xAI, SGLang, Fireworks, LM Studio
  /\b(?:maximum|model'?s|model) (?:context|prompt|model|input) length\b/i,
  /\blonger than (?:the )?(?:model|maximum|context|max)\b/i,
  // llama.cpp, Ollama, OpenAI, Anthropic
  /\bexceed(?:s|ed)? (?:the |its )?(?:maximum |available )?(?:context|prompt) (?:size|length|window|limit)\b/i,
  /\bcontext (?:size|length|window|limit) (?:is |was |has been )?(?:exceed|overflow|too (?:small|short))/i,
  /\bcontext length of only\b/i,
  /\bgreater than the context (?:length|size|window)\b|\bn_keep\b.*\bn_ctx\b/i,
  // Anthropic, Bedrock, GLM
  /\b(?:prompt|input|conversation|context)(?: is)? too (?:long|large)\b/i,
  /\bprompt exceeds max(?:imum)? length\b/i,
  // Gemini, Copilot, Moonshot, Cohere
  /\b(?:input|prompt) token count\b.*\bexceeds\b/i,
  /\bexceeded model token limit\b/i,
  /\btoo many (?:input|prompt) tokens\b|\btotal number of tokens in the prompt\b/i,
  // Groq, Cerebras, vLLM
  /\breduce the length of the (?:messages|input|prompt)\b/i,
  // Qwen
  /\brange of input length should be\b/i,
  // Text Generation Inference, Together
  /`?inputs`?(?: tokens \+ `?max_new_tokens`?)? must (?:have less than|be <=?)/i,
];

/**
 * Words of limits that pass with time, or that bound the response. A shorter prompt is not their
 * remedy.
 */
const OTHER_LIMITS = /\bper (?:second|minute|hour|day)\b|\b(?:TPM|RPM|TPD)\b|\brate limit/i;

/** Statuses of refusals for other reasons, whatever their text. */
const OTHER_STATUSES = new Set([401, 402, 403, 407, 408, 429]);
const TOO_LARGE = 413;

interface Refusal {
  /** The HTTP status; null: the error came inside of a response. */
  status: number | null;
  codes: readonly string[];
  text: string;
}

/**
 * Whether a provider refuses a request because its prompt is too long. A proxy says so with 413.
 */
export function isTooLong({ status, codes, text }: Refusal): boolean {
  if (codes.some((code) => CODES.has(code))) return true;
  if (status !== null && OTHER_STATUSES.has(status)) return false;
  return (
    status === TOO_LARGE ||
    (TEXTS.some((pattern) => pattern.test(text)) && !OTHER_LIMITS.test(text))
  );
}
