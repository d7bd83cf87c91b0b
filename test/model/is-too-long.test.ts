import { expect, test } from 'vitest';
import { isTooLong } from '../../src/model/is-too-long.ts';
import {
  collect,
  modelAt,
  never,
  ProviderServer,
  refusing,
  request,
  streaming,
} from './provider-server.ts';

/** The texts of providers that give no code of their own for it. */
const TOO_LONG = [
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
  "You passed 9001 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens.",
  'The decoder prompt (length 9001) is longer than the maximum model length of 8192.',
  "This endpoint's maximum context length is 128000 tokens. However, you requested about 140000 tokens.",
  'the request exceeds the available context size, try increasing it',
  'request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it',
  'the input length exceeds the context length',
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  'prompt is too long: 210000 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
  'Input is too long for requested model.',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'prompt token count of 150000 exceeds the limit of 128000',
  'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "The input (9001 tokens) is longer than the model's context length (8192 tokens).",
  'Invalid request: Your request exceeded model token limit: 262144 (requested: 265123)',
  'Prompt exceeds max length',
  'Please reduce the length of the messages or completion. Current length is 8500 while limit is 8192',
  '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
  'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000',
  'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000',
  'Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens',
  'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger one.',
  'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)',
  'context window exceeds limit (2013)',
  'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000',
];

/** Refusals that a shorter prompt does not answer. */
const OTHERS = [
  'Rate limit reached for the context length of this tier: 30000 tokens per minute (TPM).',
  'Too many tokens, please wait before trying again.',
  'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.',
  'The model `m` does not exist.',
  "Invalid 'tools[0].name': string too long.",
  'The context is not valid JSON.',
  'bad field',
];

test.each(TOO_LONG)('a refusal for the length of the prompt is known by its words: %s', (text) => {
  expect(isTooLong({ status: 400, codes: ['invalid_request_error'], text })).toBe(true);
  expect(isTooLong({ status: null, codes: [], text })).toBe(true);
});

test.each(OTHERS)('another refusal is not taken for one: %s', (text) => {
  expect(isTooLong({ status: 400, codes: ['invalid_request_error'], text })).toBe(false);
});

test('codes count whatever the status; 413 always; other statuses have their own meaning', () => {
  expect(isTooLong({ status: 400, codes: ['exceed_context_size_error'], text: 'why' })).toBe(true);
  expect(isTooLong({ status: 413, codes: [], text: '' })).toBe(true);
  for (const status of [401, 402, 403, 408, 429])
    expect(isTooLong({ status, codes: [], text: TOO_LONG[0] ?? '' })).toBe(false);
});

test.each(['responses', 'chat'] as const)(
  'a provider that says it in its own way, over the API %s',
  async (wireApi) => {
    const body = { message: TOO_LONG[0], type: 'BadRequestError', param: null, code: 400 };
    for (const reply of [
      refusing(400, body),
      refusing(500, { error: body }),
      refusing(200, { error: body }),
      refusing(413, 'too large'),
      streaming({ error: { message: TOO_LONG[4], type: 'exceed_context_size_error' } }),
    ]) {
      await using server = await ProviderServer.start(reply);
      const events = await collect(
        modelAt(server.port, { wireApi, requestMaxRetries: 2 }).model.stream(request, never),
      );
      expect(events.at(-1)).toMatchObject({
        type: 'failed',
        error: { codexErrorInfo: 'contextWindowExceeded' },
      });
      expect(server.requests).toHaveLength(1);
    }
  },
);
