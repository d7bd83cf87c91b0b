import { isObject, parsedJson } from '../../src/base/json-value.ts';
import { DONE, data } from './chat-stream.ts';
import { answersJson, type Reply, refusing } from './provider-server.ts';

/** One answer of a model, which each server puts into its own form. */
export interface FakeAnswer {
  thinking?: string;
  text?: string;
  call?: { name: string; args: object };
}

/** A provider's Chat Completions API: what it takes, how it refuses, and how it words an answer. */
interface ChatDialect {
  /** The path and query of a request. */
  target: string;
  /** The path of its list of models, and the list. Absent: it has none. */
  listing?: [path: string, list: object];
  /**
   * The model that it has, and the refusal of another one. Absent: it does not look at the name.
   */
  model?: [name: string, other: (name: string) => Reply];
  /** The header with the key, and the refusal of a request without it. Absent: it needs none. */
  key?: [header: string, value: string, refusal: Reply];
  notFound: Reply;
  /** Messages of the model must have their reasoning. Absent: they must not. */
  thoughts?: Reply;
  /** Refuses a body that others take. Null: it takes it. */
  refused?: (body: Record<string, unknown>) => Reply | null;
  /** The events before the answer. */
  before?: (object | string)[];
  chunks: (answer: FakeAnswer, number: number) => object[];
  /** The last chunk, if the request asks for the counts. */
  counts: object;
  /** Every chunk has these fields. */
  common: object;
}

const KEY = 'key-1';
const COUNTS = { prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 };

/** A server that speaks this dialect and gives the answers in order. */
function chatServer(dialect: ChatDialect, answers: readonly FakeAnswer[]): Reply {
  let number = 0;
  return (res, req, body) => {
    const refusal = refusalOf(dialect, {
      url: req.url ?? '',
      method: req.method ?? '',
      headers: req.headers,
      body,
    });
    if (refusal !== null) return refusal(res, req, body);
    if (!isObject(body)) return answersJson(dialect.listing?.[1] ?? {})(res, req, body);
    const answer = answers[number++] ?? {};
    const wantsCounts = isObject(body.stream_options) && body.stream_options.include_usage === true;
    const chunks = [...dialect.chunks(answer, number), ...(wantsCounts ? [dialect.counts] : [])];
    const text = [
      ...(dialect.before ?? []),
      ...chunks.map((chunk) => ({ ...dialect.common, ...chunk })),
      DONE,
    ]
      .map(data)
      .join('');
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    return res.end(text);
  };
}

interface Asked {
  url: string;
  method: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
}

function refusalOf(dialect: ChatDialect, { url, method, headers, body }: Asked): Reply | null {
  const { key, listing, target, model, notFound, thoughts, refused } = dialect;
  if (key !== undefined && headers[key[0]] !== key[1]) return key[2];
  if (method === 'GET') return url === listing?.[0] ? null : notFound;
  if (url !== target || !isObject(body)) return notFound;
  if (model !== undefined && body.model !== model[0]) return model[1](String(body.model));
  if (thoughts !== undefined && lacksThoughts(body.messages)) return thoughts;
  const problem = conversationProblem(
    thoughts === undefined ? body.messages : withoutThoughts(body.messages),
  );
  if (problem !== null)
    return refusing(400, {
      error: { message: problem, type: 'invalid_request_error', param: 'messages', code: 400 },
    });
  return refused?.(body) ?? null;
}

function lacksThoughts(messages: unknown): boolean {
  const sent = (Array.isArray(messages) ? messages : []) as SentMessage[];
  return sent.some(
    ({ role, reasoning_content: thoughts }) => role === 'assistant' && typeof thoughts !== 'string',
  );
}

function withoutThoughts(messages: unknown): unknown {
  return Array.isArray(messages)
    ? messages.map(({ reasoning_content: _, ...others }: SentMessage) => others)
    : messages;
}

interface SentMessage {
  reasoning_content?: string;
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: { arguments: string } }[];
  tool_call_id?: string;
}

/** The rule of strict servers and templates that a conversation breaks. Null: none. */
function conversationProblem(messages: unknown): string | null {
  if (!Array.isArray(messages) || messages.length === 0)
    return 'messages: at least one is required';
  const sent = messages as SentMessage[];
  return (
    sent
      .map((message, index) => messageProblem(message, sent.slice(0, index)))
      .find((problem) => problem !== null) ?? null
  );
}

function messageProblem(message: SentMessage, before: readonly SentMessage[]): string | null {
  const { role, content, tool_calls: made = [], tool_call_id: id, ...others } = message;
  const calls = before.flatMap(({ tool_calls: earlier = [] }) => earlier);
  const rules: [boolean, string][] = [
    [['system', 'user', 'assistant', 'tool'].includes(role), `Unexpected message role: ${role}`],
    [role !== 'system' || before.length === 0, 'System message must be at the beginning.'],
    [
      role !== before.at(-1)?.role || role === 'tool',
      'Conversation roles must alternate user/assistant/user/assistant/...',
    ],
    [
      role !== 'tool' || calls.some((call) => call.id === id),
      `tool_call_id ${id} is not of a call before`,
    ],
    [Object.keys(others).length === 0, `Extra inputs are not permitted: ${Object.keys(others)}`],
    [
      typeof content === 'string' || (content === null && made.length > 0),
      'content: expected a string',
    ],
    [
      made.every((call) => isObject(parsedJson(call.function.arguments))),
      'arguments of a call: expected a JSON object',
    ],
  ];
  return rules.find(([holds]) => !holds)?.[1] ?? null;
}

const choice = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason, ...more }],
});
const pieces = (text: string) => [text.slice(0, 7), text.slice(7)];
const ending = ({ call }: FakeAnswer) => (call === undefined ? 'stop' : 'tool_calls');
const listOf = (entry: object) => ({
  object: 'list',
  data: [{ object: 'model', created: 1_700_000_000, ...entry }],
});

/**
 * OpenRouter: comments while it waits, reasoning in two fields, and the counts beside an empty
 * delta.
 */
export function openRouter(answers: readonly FakeAnswer[]): Reply {
  const more = { native_finish_reason: null, logprobs: null };
  return chatServer(
    {
      target: '/api/v1/chat/completions',
      listing: [
        '/api/v1/models',
        { data: [{ id: 'qwen/qwen3-coder', name: 'Qwen: Qwen3 Coder', context_length: 262_144 }] },
      ],
      model: [
        'qwen/qwen3-coder',
        (name) =>
          refusing(400, { error: { message: `${name} is not a valid model ID`, code: 400 } }),
      ],
      key: [
        'authorization',
        `Bearer ${KEY}`,
        refusing(401, { error: { message: 'No auth credentials found', code: 401 } }),
      ],
      notFound: (res) =>
        res
          .writeHead(404, { 'content-type': 'text/html' })
          .end('<!DOCTYPE html><html><title>Not Found</title></html>'),
      before: [': OPENROUTER PROCESSING\n\n', ': OPENROUTER PROCESSING\n\n'],
      chunks: (answer, number) => [
        ...(answer.thinking === undefined ? [] : [answer.thinking]).map((text) =>
          choice(
            {
              role: 'assistant',
              content: '',
              reasoning: text,
              reasoning_details: [{ type: 'reasoning.text', text, index: 0 }],
            },
            null,
            more,
          ),
        ),
        ...pieces(answer.text ?? '').map((content) =>
          choice({ role: 'assistant', content }, null, more),
        ),
        ...(answer.call === undefined ? [] : [answer.call]).map(({ name, args }) =>
          choice(
            {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  index: 0,
                  id: `call_${number}`,
                  type: 'function',
                  function: { name, arguments: JSON.stringify(args) },
                },
              ],
            },
            null,
            more,
          ),
        ),
        choice({ role: 'assistant', content: '' }, ending(answer), {
          native_finish_reason: 'completed',
        }),
      ],
      counts: {
        ...choice({ role: 'assistant', content: '' }, null, more),
        usage: { ...COUNTS, cost: 0.0001, is_byok: false },
      },
      common: {
        id: 'gen-1764288000-a',
        provider: 'Chutes',
        model: 'qwen/qwen3-coder',
        object: 'chat.completion.chunk',
        created: 1,
      },
    },
    answers,
  );
}

/**
 * vLLM: an empty first delta, arguments in pieces, and errors without an object around them.
 * `parsesTools`: started for calls of tools.
 */
export function vllm(answers: readonly FakeAnswer[], { parsesTools = true } = {}): Reply {
  const failure = (code: number, message: string, type: string) =>
    refusing(code, { object: 'error', message, type, param: null, code });
  const name = 'Qwen/Qwen3-32B';
  const noParser =
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
  return chatServer(
    {
      target: '/v1/chat/completions',
      listing: [
        '/v1/models',
        listOf({ id: name, owned_by: 'vllm', root: name, parent: null, max_model_len: 40_960 }),
      ],
      model: [
        name,
        (other) => failure(404, `The model \`${other}\` does not exist.`, 'NotFoundError'),
      ],
      key: ['authorization', `Bearer ${KEY}`, refusing(401, { error: 'Unauthorized' })],
      notFound: refusing(404, { detail: 'Not Found' }),
      refused: ({ tools }) =>
        Array.isArray(tools) && !parsesTools ? failure(400, noParser, 'BadRequestError') : null,
      chunks: (answer, number) => [
        choice({ role: 'assistant', content: '' }),
        ...(answer.thinking === undefined ? [] : pieces(answer.thinking)).map((reasoning) =>
          choice({ reasoning }),
        ),
        ...pieces(answer.text ?? '').map((content) => choice({ content })),
        ...(answer.call === undefined ? [] : [answer.call]).flatMap(({ name: called, args }) => [
          choice({
            tool_calls: [
              {
                id: `chatcmpl-tool-${number}`,
                type: 'function',
                index: 0,
                function: { name: called },
              },
            ],
          }),
          ...pieces(JSON.stringify(args)).map((part) =>
            choice({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
          ),
        ]),
        choice({ content: '' }, ending(answer), { stop_reason: null }),
      ],
      counts: { choices: [], usage: COUNTS },
      common: { id: 'chatcmpl-a', object: 'chat.completion.chunk', created: 1, model: name },
    },
    answers,
  );
}

/**
 * llama-server: it takes any model and no key, and lists its one model by two names. `jinja`: it
 * can call tools.
 */
export function llamaCpp(answers: readonly FakeAnswer[], { jinja = true } = {}): Reply {
  const name = 'qwen3-8b-q4_k_m.gguf';
  const refusal = refusing(500, {
    error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' },
  });
  return chatServer(
    {
      target: '/v1/chat/completions',
      listing: [
        '/v1/models',
        {
          ...listOf({ id: name, owned_by: 'llamacpp', meta: { n_ctx_train: 40_960 } }),
          models: [{ name, model: name }],
        },
      ],
      notFound: refusing(404, {
        error: { code: 404, message: 'File Not Found', type: 'not_found_error' },
      }),
      refused: ({ tools }) => (Array.isArray(tools) && !jinja ? refusal : null),
      chunks: (answer, number) => [
        choice({ role: 'assistant', content: null }),
        ...(answer.thinking === undefined ? [] : pieces(answer.thinking)).map((part) =>
          choice({ reasoning_content: part }),
        ),
        ...pieces(answer.text ?? '').map((content) => choice({ content })),
        ...(answer.call === undefined ? [] : [answer.call]).flatMap(({ name: called, args }) => [
          choice({
            tool_calls: [
              {
                index: 0,
                id: `Xy${number}`,
                type: 'function',
                function: { name: called, arguments: '' },
              },
            ],
          }),
          ...pieces(JSON.stringify(args)).map((part) =>
            choice({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
          ),
        ]),
        choice({}, ending(answer)),
      ],
      counts: { choices: [], usage: COUNTS, timings: { prompt_n: 30, predicted_n: 9 } },
      common: {
        id: 'chatcmpl-b',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'gpt-3.5-turbo',
        system_fingerprint: 'b6000',
      },
    },
    answers,
  );
}

/**
 * LiteLLM before a model that takes no parallel calls: it refuses the parameter, and passes on a
 * call without an id and an index. `wantsThoughts`: the model is one of DeepSeek's.
 */
export function liteLlm(answers: readonly FakeAnswer[], { wantsThoughts = false } = {}): Reply {
  const failure = (code: number, message: string) =>
    refusing(code, { error: { message, type: 'None', param: 'None', code: `${code}` } });
  const missing =
    'litellm.BadRequestError: DeepseekException - Missing `reasoning_content` field in the assistant message at message index 2.';
  const unsupported =
    "litellm.UnsupportedParamsError: anthropic does not support parameters: ['parallel_tool_calls'], for model=claude. To drop these, set `litellm.drop_params=True`";
  return chatServer(
    {
      target: '/v1/chat/completions',
      listing: ['/v1/models', listOf({ id: 'claude', owned_by: 'openai' })],
      model: [
        'claude',
        (other) =>
          failure(
            400,
            `/chat/completions: Invalid model name passed in model=${other}. Call \`/v1/models\` to view available models`,
          ),
      ],
      key: [
        'authorization',
        `Bearer ${KEY}`,
        failure(401, 'Authentication Error, No api key passed in.'),
      ],
      notFound: refusing(404, { detail: 'Not Found' }),
      ...(wantsThoughts && { thoughts: failure(400, missing) }),
      refused: (body) => ('parallel_tool_calls' in body ? failure(400, unsupported) : null),
      chunks: (answer) => [
        ...(answer.thinking === undefined ? [] : [answer.thinking]).map((thinking) =>
          choice({
            role: 'assistant',
            content: '',
            reasoning_content: thinking,
            thinking_blocks: [{ type: 'thinking', thinking }],
          }),
        ),
        ...pieces(answer.text ?? '').map((content) => choice({ content })),
        ...(answer.call === undefined ? [] : [answer.call]).map(({ name, args }) =>
          choice({
            tool_calls: [
              { id: null, type: 'function', function: { name, arguments: JSON.stringify(args) } },
            ],
          }),
        ),
        choice({}, ending(answer)),
      ],
      counts: { choices: [{ index: 0, delta: {}, finish_reason: null }], usage: COUNTS },
      common: { id: 'chatcmpl-c', object: 'chat.completion.chunk', created: 1, model: 'claude' },
    },
    answers,
  );
}

/**
 * A dated version of Azure's API: the deployment is in the path, the version in the query, the key
 * in a header of its own.
 */
export function azureDeployment(answers: readonly FakeAnswer[]): Reply {
  const denied = 'Access denied due to invalid subscription key or wrong API endpoint.';
  const filtered = { content_filter_results: { hate: { filtered: false, severity: 'safe' } } };
  return chatServer(
    {
      target: '/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21',
      key: ['api-key', KEY, refusing(401, { error: { code: '401', message: denied } })],
      notFound: refusing(404, { error: { code: '404', message: 'Resource not found' } }),
      before: [
        {
          choices: [],
          created: 0,
          id: '',
          model: '',
          object: '',
          prompt_filter_results: [{ prompt_index: 0, ...filtered }],
        },
      ],
      chunks: (answer, number) => [
        choice({ role: 'assistant', content: '', refusal: null }, null, {
          logprobs: null,
          content_filter_results: {},
        }),
        ...pieces(answer.text ?? '').map((content) =>
          choice({ content }, null, { logprobs: null, ...filtered }),
        ),
        ...(answer.call === undefined ? [] : [answer.call]).flatMap(({ name, args }) => [
          choice({
            tool_calls: [
              {
                index: 0,
                id: `call_${number}`,
                type: 'function',
                function: { name, arguments: '' },
              },
            ],
          }),
          ...pieces(JSON.stringify(args)).map((part) =>
            choice({ tool_calls: [{ index: 0, function: { arguments: part } }] }),
          ),
        ]),
        choice({}, ending(answer), { logprobs: null, content_filter_results: {} }),
      ],
      counts: { choices: [], usage: { ...COUNTS, prompt_tokens_details: { cached_tokens: 0 } } },
      common: {
        id: 'chatcmpl-d',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'gpt-5',
        system_fingerprint: 'fp_1',
      },
    },
    answers,
  );
}
