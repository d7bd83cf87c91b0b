import { isObject } from '../../src/base/json-value.ts';
import { data } from './chat-stream.ts';
import { answersJson, type Reply, refusing } from './provider-server.ts';

/** The text of one answer. */
export interface OllamaAnswer {
  thinking?: string[];
  text?: string[];
  calls?: { name: string; args: object }[];
  doneReason?: 'stop' | 'length';
  /** The connection ends after so many chunks, as when the model's runner dies. */
  cutAfter?: number;
}

export interface OllamaOptions {
  models?: string[];
  /** In order; the last again and again. */
  answers?: OllamaAnswer[];
  /** Models whose template knows no tools. */
  withoutTools?: string[];
  /** Models that do not think. */
  withoutThinking?: string[];
  /** How many tokens it counts for each prompt. */
  promptTokens?: number;
  /** The context with which it runs the models that are loaded now. */
  loaded?: () => Record<string, number>;
}

const EFFORTS = ['high', 'medium', 'low', 'none'];

/** Ollama's OpenAI-like API, as it answers: chunk by chunk, calls whole, errors in its words. */
export function ollama(options: OllamaOptions = {}): Reply {
  const { models = ['llama3.2:latest'], answers = [{ text: ['ok'] }], promptTokens = 26 } = options;
  const left = [...answers];
  return (res, req, body) => {
    if (req.method === 'GET' && req.url === '/v1/models') {
      return answersJson({ object: 'list', data: listedModels(models) })(res, req, body);
    }
    if (req.url === '/api/ps') {
      return answersJson({ models: runningModels(options) })(res, req, body);
    }
    if (req.url !== '/v1/chat/completions' || !isObject(body)) {
      return res.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found');
    }
    const refusal = refused(body, { ...options, models });
    if (refusal !== null) return refusal(res, req, body);
    const answer = (left.length > 1 ? left.shift() : left[0]) ?? {};
    return streamed(answer, body, promptTokens)(res, req, body);
  };
}

function listedModels(models: readonly string[]): object[] | null {
  const listed = models.map((id) => ({
    id,
    object: 'model',
    created: 1_700_000_000,
    owned_by: 'library',
  }));
  return listed.length === 0 ? null : listed;
}

function runningModels({ loaded = () => ({}) }: OllamaOptions): object[] {
  return Object.entries(loaded()).map(([name, context_length]) => ({
    name,
    model: name,
    context_length,
  }));
}

function failure(status: number, message: string): Reply {
  const type =
    status === 400 ? 'invalid_request_error' : status === 404 ? 'not_found_error' : 'api_error';
  return refusing(status, { error: { message, type, param: null, code: null } });
}

/** The reasons for which Ollama refuses a request, in the order in which it checks them. */
function refused(
  body: Record<string, unknown>,
  { models = [], withoutTools = [], withoutThinking = [] }: OllamaOptions,
): Reply | null {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
  if (messages.length === 0) return failure(400, "[] is too short - 'messages'");
  for (const message of messages) {
    const problem = wrongMessage(message);
    if (problem !== null) return failure(400, problem);
  }
  const { reasoning_effort: effort } = body;
  if (typeof effort === 'string' && !EFFORTS.includes(effort)) {
    return failure(
      400,
      `invalid reasoning value: '${effort}' (must be "high", "medium", "low", or "none")`,
    );
  }
  const name = String(body.model);
  const full = name.includes(':') ? name : `${name}:latest`;
  if (!models.includes(full))
    return failure(404, `model "${name}" not found, try pulling it first`);
  if (typeof effort === 'string' && effort !== 'none' && withoutThinking.includes(full)) {
    return failure(400, `"${name}" does not support thinking`);
  }
  const asksTools = Array.isArray(body.tools) && body.tools.length > 0;
  return asksTools && withoutTools.includes(full)
    ? failure(400, `registry.ollama.ai/library/${full} does not support tools`)
    : null;
}

function wrongMessage({ content, tool_calls: calls }: Record<string, unknown>): string | null {
  if (
    Array.isArray(calls) &&
    !calls.every((call) => isObject(parsed(String(call.function?.arguments))))
  )
    return 'invalid tool call arguments';
  if (typeof content === 'string') return null;
  if (!Array.isArray(content))
    return Array.isArray(calls) ? null : 'invalid message content type: <nil>';
  return content.map(wrongPart).find((problem) => problem !== null) ?? null;
}

function wrongPart(part: Record<string, unknown>): string | null {
  if (part.type === 'text') return typeof part.text === 'string' ? null : 'invalid message format';
  if (part.type !== 'image_url' || !isObject(part.image_url)) return 'invalid message format';
  return /^data:image\/(?:jpeg|jpg|png|webp);base64,/.test(String(part.image_url.url))
    ? null
    : 'invalid image input';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function streamed(
  answer: OllamaAnswer,
  body: Record<string, unknown>,
  prompt_tokens: number,
): Reply {
  const { thinking = [], text = [], calls = [], doneReason = 'stop', cutAfter } = answer;
  const base = {
    id: 'chatcmpl-838',
    object: 'chat.completion.chunk',
    created: 1_744_438_886,
    model: body.model,
    system_fingerprint: 'fp_ollama',
  };
  const chunk = (change: object, reason: string | null = null) => ({
    ...base,
    choices: [
      { index: 0, delta: { role: 'assistant', content: '', ...change }, finish_reason: reason },
    ],
  });
  const wire = calls.map(({ name, args }, index) => ({
    id: `call_hk81qg${index}${calls.length}`,
    index,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  const said = [
    ...thinking.map((reasoning) => chunk({ reasoning })),
    ...text.map((content) => chunk({ content })),
    ...wire.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, calls.length > 0 ? 'tool_calls' : doneReason),
  ];
  const completion_tokens = thinking.length + text.length + calls.length;
  const usage = {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
  };
  const wantsUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const all = [...said, ...(wantsUsage ? [{ ...base, choices: [], usage }] : [])].map(data);
  return (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(
      [...all.slice(0, cutAfter), ...(cutAfter === undefined ? ['data: [DONE]\n\n'] : [])].join(''),
    );
  };
}
