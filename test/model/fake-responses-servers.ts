import { isObject } from '../../src/base/json-value.ts';
import type { FakeAnswer } from './fake-chat-servers.ts';
import { type Reply, refusing, sse } from './provider-server.ts';

/** A provider's Responses API, as far as providers differ in it. */
interface ResponsesDialect {
  /** The paths of requests and of the list of models. */
  target: string;
  listing: string;
  /**
   * Why it refuses the reasoning that is sent back, as message, param and code. Null: it takes it.
   */
  reasoningProblem: (reasoning: readonly Item[], places: readonly number[]) => Problem | null;
  /** The fields of requests that it does not know, although others do. */
  unknown: readonly string[];
}

type Item = Record<string, unknown>;
type Problem = [message: string, param: string | null, code: string | null];

const KEY = 'key-1';
const KNOWN = [
  ...[
    'model',
    'instructions',
    'input',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'reasoning',
    'store',
    'stream',
    'include',
  ],
  ...['prompt_cache_key', 'text', 'service_tier', 'client_metadata'],
];

/** OpenAI: reasoning is sent back without an id, because nothing is stored. */
export function openAi(answers: readonly FakeAnswer[]): Reply {
  const reasoningProblem: ResponsesDialect['reasoningProblem'] = (reasoning) => {
    const found = reasoning.find(({ id }) => id !== undefined);
    return found === undefined ? null : [`Item with id '${found.id}' not found.`, 'input', null];
  };
  return responsesServer(
    { target: '/v1/responses', listing: '/v1/models', reasoningProblem, unknown: [] },
    answers,
  );
}

/**
 * Azure, whose deployments differ: some want the ids of reasoning, others take reasoning of one
 * response only.
 */
export function azure(
  answers: readonly FakeAnswer[],
  { takes = 'withIds' }: { takes?: 'withIds' | 'one' } = {},
): Reply {
  const withIds: ResponsesDialect['reasoningProblem'] = (reasoning, places) => {
    const param = `input[${places[reasoning.findIndex(({ id }) => id === undefined)]}].id`;
    const isMissing = reasoning.some(({ id }) => id === undefined);
    return isMissing
      ? [`Missing required parameter: '${param}'.`, param, 'missing_required_parameter']
      : null;
  };
  const one: ResponsesDialect['reasoningProblem'] = (reasoning) =>
    reasoning.length > 1
      ? ['Conflicting authenticated continuation identities', 'input', 'invalid_value']
      : null;
  const reasoningProblem = takes === 'one' ? one : withIds;
  const paths = { target: '/openai/v1/responses', listing: '/openai/v1/models' };
  return responsesServer({ ...paths, reasoningProblem, unknown: ['client_metadata'] }, answers);
}

function responsesServer(dialect: ResponsesDialect, answers: readonly FakeAnswer[]): Reply {
  let number = 0;
  return (res, req, body) => {
    if (req.headers.authorization !== `Bearer ${KEY}`)
      return failure(401, INVALID_KEY)(res, req, body);
    if (req.method === 'GET' && req.url === dialect.listing) return listing(res, req, body);
    if (req.url !== dialect.target || !isObject(body))
      return failure(404, ['Resource not found', null, '404'])(res, req, body);
    const problem = bodyProblem(dialect, body);
    if (problem !== null) return failure(400, problem)(res, req, body);
    number += 1;
    res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    return res.end(
      eventsOf(answers[number - 1] ?? {}, number)
        .map(sse)
        .join(''),
    );
  };
}

const INVALID_KEY: Problem = ['Incorrect API key provided.', null, 'invalid_api_key'];

function failure(status: number, [message, param, code]: Problem): Reply {
  return refusing(status, { error: { message, type: 'invalid_request_error', param, code } });
}

const listing: Reply = (res) => {
  const data = ['gpt-5.5', 'text-embedding-3-small'].map((id) => ({
    id,
    object: 'model',
    created: 1,
    owned_by: 'system',
  }));
  return res
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ object: 'list', data }));
};

function bodyProblem({ reasoningProblem, unknown }: ResponsesDialect, body: Item): Problem | null {
  const strange = Object.keys(body).find((name) => !KNOWN.includes(name) || unknown.includes(name));
  if (strange !== undefined)
    return [`Unknown parameter: '${strange}'.`, strange, 'unknown_parameter'];
  if (body.store !== false) return ['This conversation was not to be stored.', 'store', null];
  const input = (Array.isArray(body.input) ? body.input : []) as Item[];
  const places = [...input.keys()].filter((place) => input[place]?.type === 'reasoning');
  const reasoning = places.map((place) => input[place] ?? {});
  return reasoningProblem(reasoning, places);
}

function eventsOf({ thinking, text, call }: FakeAnswer, number: number): object[] {
  const items: [object, object[]][] = [];
  if (thinking !== undefined) {
    const item = {
      type: 'reasoning',
      id: `rs_${number}`,
      summary: [{ type: 'summary_text', text: thinking }],
      encrypted_content: 'c2VhbA',
    };
    items.push([
      item,
      [
        {
          type: 'response.reasoning_summary_text.delta',
          item_id: `rs_${number}`,
          summary_index: 0,
          delta: thinking,
        },
      ],
    ]);
  }
  if (text !== undefined) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    const item = {
      type: 'message',
      id: `msg_${number}`,
      role: 'assistant',
      status: 'completed',
      content,
    };
    items.push([
      item,
      [
        {
          type: 'response.output_text.delta',
          item_id: `msg_${number}`,
          content_index: 0,
          delta: text,
        },
      ],
    ]);
  }
  if (call !== undefined) {
    const made = {
      call_id: `call_${number}`,
      name: call.name,
      arguments: JSON.stringify(call.args),
    };
    items.push([{ type: 'function_call', id: `fc_${number}`, status: 'completed', ...made }, []]);
  }
  const empty = { content: [], summary: [], encrypted_content: '', arguments: '' };
  const begun = (item: object) =>
    Object.fromEntries(
      Object.entries(item).map(([name, value]) => [name, empty[name as 'content'] ?? value]),
    );
  return [
    { type: 'response.created', response: { id: `resp_${number}`, status: 'in_progress' } },
    ...items.flatMap(([item, deltas], output_index) => [
      { type: 'response.output_item.added', output_index, item: begun(item) },
      ...deltas.map((delta) => ({ ...delta, output_index })),
      { type: 'response.output_item.done', output_index, item },
    ]),
    {
      type: 'response.completed',
      response: {
        id: `resp_${number}`,
        status: 'completed',
        usage: { input_tokens: 30, output_tokens: 9, total_tokens: 39 },
      },
    },
  ];
}
