import { isObject } from '../../src/base/json-value.ts';
import { data } from './chat-stream.ts';
import { type Reply, refusing } from './provider-server.ts';

/** The text of one answer. */
export interface LmStudioAnswer {
  reasoning?: string[];
  text?: string[];
  calls?: { name: string; args: string[] }[];
  finish?: 'stop' | 'length';
  /** The failure after the text. */
  error?: string;
}

export interface LmStudioOptions {
  /** The models that are downloaded. */
  models?: string[];
  /** None is loaded, and none is loaded on demand. */
  noneLoaded?: boolean;
  /** In order; the last again and again. */
  answers?: LmStudioAnswer[];
}

/**
 * LM Studio's OpenAI-like API, as it answers: calls in fragments, wrong paths with success, prompts
 * by the model's template.
 */
export function lmStudio({
  models = ['qwen3-8b'],
  noneLoaded = false,
  answers = [{ text: ['ok'] }],
}: LmStudioOptions = {}): Reply {
  const left = [...answers];
  return (res, req, body) => {
    if (req.method === 'GET' && req.url === '/v1/models') {
      const listed = models.map((id) => ({ id, object: 'model', owned_by: 'organization_owner' }));
      return json({ data: listed, object: 'list' })(res, req, body);
    }
    if (req.url !== '/v1/chat/completions' || !isObject(body)) {
      return json({ error: `Unexpected endpoint or method. (${req.method} ${req.url})` })(
        res,
        req,
        body,
      );
    }
    const refusal = refused(body, { models, noneLoaded });
    if (refusal !== null) return refusal(res, req, body);
    const answer = (left.length > 1 ? left.shift() : left[0]) ?? {};
    return streamed(answer, body)(res, req, body);
  };
}

function json(value: object): Reply {
  return (res) =>
    res
      .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
      .end(JSON.stringify(value));
}

function refused(
  body: Record<string, unknown>,
  { models, noneLoaded }: { models: string[]; noneLoaded: boolean },
): Reply | null {
  const aboutModel = (status: number, message: string) =>
    refusing(status, {
      error: { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
    });
  if (noneLoaded)
    return aboutModel(
      404,
      'No models loaded. Please load a model in the developer page or use the `lms load` command.',
    );
  if (!models.includes(String(body.model))) {
    const known = models.slice(0, 3).join(', ');
    return aboutModel(
      400,
      `Invalid model identifier "${body.model}". Please specify a valid downloaded model (e.g., ${known}).`,
    );
  }
  const problem = templateProblem(
    Array.isArray(body.messages) ? body.messages.map(({ role }) => String(role)) : [],
  );
  return problem === null
    ? null
    : refusing(400, { error: `Error rendering prompt with jinja template: "${problem}".` });
}

/** Many models' templates raise on these. */
function templateProblem(roles: string[]): string | null {
  if (roles.includes('developer')) return 'Unexpected message role.';
  if (roles.lastIndexOf('system') > 0) return 'System message must be at the beginning.';
  const turns = roles.filter((role) => role !== 'system' && role !== 'tool');
  const alternate = turns.every((role, place) => role !== turns[place - 1] || role === 'assistant');
  return alternate ? null : 'Conversation roles must alternate user/assistant/user/assistant/...';
}

function streamed(
  { reasoning = [], text = [], calls = [], finish, error }: LmStudioAnswer,
  body: Record<string, unknown>,
): Reply {
  const { model } = body;
  const base = {
    id: 'chatcmpl-t8tsxqx7kwi9',
    object: 'chat.completion.chunk',
    created: 1_746_707_722,
    model,
    system_fingerprint: model,
  };
  const chunk = (delta: object, reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  const fragments = calls.flatMap(({ name, args }, index) => [
    { index, id: `37125980${index}`, type: 'function', function: { name, arguments: '' } },
    ...args.map((piece) => ({ index, type: 'function', function: { arguments: piece } })),
  ]);
  const said = [
    ...reasoning.map((piece) => chunk({ role: 'assistant', reasoning_content: piece })),
    ...text.map((content) => chunk({ role: 'assistant', content })),
    ...fragments.map((fragment) => chunk({ tool_calls: [fragment] })),
  ];
  if (error !== undefined) {
    return (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(
        `${said.map(data).join('')}event: error\ndata: ${JSON.stringify({ error: { message: error } })}\n\n`,
      );
    };
  }
  const usage = {
    prompt_tokens: 18,
    completion_tokens: said.length,
    total_tokens: 18 + said.length,
  };
  const wantsUsage = isObject(body.stream_options) && body.stream_options.include_usage === true;
  const end = [
    chunk({}, finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')),
    ...(wantsUsage ? [{ ...base, choices: [], usage }] : []),
  ];
  return (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end([...said, ...end, 'data: [DONE]\n\n'].map(data).join(''));
  };
}
