import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { cutText } from '../../base/text/cut-text.ts';
import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import type { AskedQuestion } from '../../mcp/mcp-user.ts';
import type { McpAnswer } from '../../mcp/messages/mcp-host.ts';
import type { ModelRequest } from '../../model/model.ts';
import { mayAsk } from '../../policy/approvals/may-ask.ts';
import type {
  McpServerElicitationRequestResponse,
  ResponseItem,
  ServerRequests,
} from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { type ActionHost, type Ask, UNCONFINED } from '../../tools/action.ts';
import { unanswered } from '../../tools/denial.ts';
import { askAside } from '../aside/ask-aside.ts';
import type { ThreadContext } from '../thread-context.ts';
import { elicitationForm } from './elicitation-form.ts';

/** The call in whose course a server asks. */
export interface AskingCall {
  threadId: string;
  /** Null: a client has called the tool, outside of any turn. */
  turnId: string | null;
  itemId: string;
  server: string;
  settings: ThreadSettings;
  host: Pick<ActionHost, 'askUser' | 'requestMore' | 'countTokens' | 'signal'>;
}

type ElicitationParams = ServerRequests['mcpServer/elicitation/request']['params'];

const INVALID_PARAMS = -32602;
const REFUSED = -1;
const INTERNAL = -32603;

/** Answers a question of a server, for the thread whose call it is. `tag` is its `AskingCall`. */
export async function answerQuestion(
  question: AskedQuestion,
  tag: unknown,
  thread: Pick<ThreadContext, 'state'>,
  signal: AbortSignal,
): Promise<McpAnswer> {
  if (tag === undefined)
    return question.kind === 'elicitation'
      ? { result: { action: 'decline' } }
      : refusal('nobody can be asked');
  const call = tag as AskingCall;
  if (question.kind === 'elicitation') return elicit(question.params, call, signal);
  return sample(question.params, call, thread, signal);
}

async function elicit(
  params: JsonObject,
  call: AskingCall,
  withdrawn: AbortSignal,
): Promise<McpAnswer> {
  if (!mayAsk(call.settings.approvalPolicy, 'mcp_elicitations'))
    return { result: { action: 'decline' } };
  const asked = elicitationParams(params, call);
  if (typeof asked === 'string') return { error: { code: INVALID_PARAMS, message: asked } };
  const answer = await call.host.askUser(
    { method: 'mcpServer/elicitation/request', params: asked },
    withdrawn,
  );
  if (answer.type !== 'result')
    return { result: { action: answer.type === 'aborted' ? 'cancel' : 'decline' } };
  return { result: elicitationResult(answer.result, asked.mode) };
}

function elicitationResult(
  { action, content, _meta }: McpServerElicitationRequestResponse,
  mode: 'form' | 'url',
): JsonObject {
  const given =
    action === 'accept' && mode === 'form'
      ? { content: (isObject(content) ? content : {}) as JsonObject }
      : {};
  return { action, ...given, ...(isObject(_meta) ? { _meta: _meta as JsonObject } : {}) };
}

/** The question as clients get it, or why they cannot. */
function elicitationParams(
  params: JsonObject,
  { threadId, turnId, server }: AskingCall,
): ElicitationParams | string {
  const { mode, message, requestedSchema, url, elicitationId, _meta } = params;
  const common = {
    threadId,
    turnId,
    serverName: server,
    _meta: metaOfServer(_meta),
    message: String(message ?? ''),
  };
  if (mode === 'url') {
    const address = String(url ?? '');
    if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
      return 'the url is not an http or https URL';
    return { ...common, mode: 'url', url: address, elicitationId: String(elicitationId ?? '') };
  }
  const form = elicitationForm(requestedSchema);
  return form === null
    ? 'the requested schema is not valid for an elicitation form'
    : { ...common, mode: 'form', requestedSchema: form };
}

/** Without the keys by which clients recognize the server's own questions about approvals. */
function metaOfServer(meta: JsonValue | undefined): JsonObject | null {
  if (!isObject(meta)) return null;
  return Object.fromEntries(
    Object.entries(meta as JsonObject).filter(
      ([key]) => !key.startsWith('codex_') && key !== 'persist',
    ),
  );
}

/** The server wants the model to answer a prompt: the reviewer of the thread has to allow it. */
async function sample(
  params: JsonObject,
  call: AskingCall,
  thread: Pick<ThreadContext, 'state'>,
  signal: AbortSignal,
): Promise<McpAnswer> {
  const messages = Array.isArray(params.messages) ? (params.messages as JsonObject[]) : [];
  if (params.tools !== undefined)
    return refusal('tools are not offered to the model during sampling');
  const other = messages.flatMap(blocksOf).find((block) => !isText(block));
  if (other !== undefined) {
    const type = isObject(other) ? String(other.type) : 'unknown';
    return {
      error: {
        code: INVALID_PARAMS,
        message: `the prompt has content of the type ${type}, and only text is supported`,
      },
    };
  }
  if (!mayAsk(call.settings.approvalPolicy, 'mcp_elicitations'))
    return refusal('the approval policy does not allow it');
  const verdict = await call.host.requestMore({ ...samplingAsk(params, call), signal });
  if ('deny' in verdict) return refusal('the user refused it');
  const input = messages.flatMap(inputItem);
  if (input.length === 0)
    return { error: { code: INVALID_PARAMS, message: 'the prompt has no text' } };
  const configuration = thread.state.configuration;
  const request: ModelRequest = {
    model: call.settings.model,
    instructions:
      typeof params.systemPrompt === 'string'
        ? params.systemPrompt
        : 'Answer the request of a tool that helps the user.',
    input,
    tools: [],
    effort: call.settings.effort,
    summary: null,
    outputSchema: null,
    serviceTier: call.settings.serviceTier,
    verbosity: configuration.responses.verbosity,
    promptCacheKey: `${call.threadId}:mcp`,
    clientMetadata: { thread_id: call.threadId, purpose: 'mcp_sampling' },
  };
  const answer = await askAside(
    configuration.model,
    request,
    AbortSignal.any([signal, call.host.signal]),
  );
  if ('usage' in answer && answer.usage !== null) await call.host.countTokens(answer.usage);
  if (!('text' in answer))
    return {
      error: { code: INTERNAL, message: answer.error?.message ?? 'the model gave no answer' },
    };
  const { text, stopReason } = withinLimits(answer.text, params);
  return {
    result: {
      role: 'assistant',
      model: request.model,
      stopReason,
      content: { type: 'text', text },
    },
  };
}

/**
 * The answer up to the first stop sequence of the server, and at most so long as it wants. Not
 * every API of models can stop there.
 */
function withinLimits(
  text: string,
  { maxTokens, stopSequences }: JsonObject,
): { text: string; stopReason: string } {
  const sequences = Array.isArray(stopSequences)
    ? stopSequences.filter((each) => typeof each === 'string' && each !== '')
    : [];
  const ends = sequences
    .map((sequence) => text.indexOf(String(sequence)))
    .filter((index) => index >= 0);
  const end = Math.min(text.length, ...ends);
  const charsMax =
    typeof maxTokens === 'number' ? charsOfTokens(maxTokens) : Number.POSITIVE_INFINITY;
  if (end > charsMax) return { text: cutText(text, charsMax), stopReason: 'maxTokens' };
  return { text: text.slice(0, end), stopReason: ends.length > 0 ? 'stopSequence' : 'endTurn' };
}

function refusal(why: string): McpAnswer {
  return { error: { code: REFUSED, message: `the request to the model was refused: ${why}` } };
}

function samplingAsk(params: JsonObject, { threadId, turnId, itemId, server }: AskingCall): Ask {
  return {
    permit: UNCONFINED,
    beyondCall: `the MCP server ${server} sends a prompt to the model`,
    describe: () => ({
      targetItemId: itemId,
      shown: {
        type: 'mcpToolCall',
        server,
        toolName: 'sampling/createMessage',
        toolTitle: null,
        connectorId: null,
        connectorName: null,
      },
      planned: {
        tool: 'mcp_sampling',
        server,
        does: 'sends this prompt of the MCP server to the model, and its answer to the server',
        prompt: params,
      },
    }),
    async askPerson(ask) {
      const answer = await ask({
        method: 'mcpServer/elicitation/request',
        params: {
          threadId,
          turnId,
          serverName: server,
          mode: 'form',
          _meta: { codex_approval_kind: 'mcp_sampling', sampling: params },
          message: `Allow the MCP server ${server} to send a prompt to the model?`,
          requestedSchema: { type: 'object', properties: {} },
        },
      });
      if (answer.type !== 'result') return unanswered(answer);
      return answer.result.action === 'accept'
        ? { allow: UNCONFINED, scope: 'once' }
        : { deny: { by: 'declined' } };
    },
  };
}

function inputItem(message: JsonObject): ResponseItem[] {
  const texts = blocksOf(message).flatMap((block) => (isText(block) ? block.text : []));
  if (texts.length === 0) return [];
  if (message.role === 'assistant')
    return [
      {
        type: 'message',
        role: 'assistant',
        content: texts.map((text) => ({ type: 'output_text' as const, text })),
      },
    ];
  return [contextMessage('user', texts)];
}

function blocksOf({ content }: JsonObject): readonly unknown[] {
  return Array.isArray(content) ? content : [content];
}

function isText(block: unknown): block is { text: string } {
  return isObject(block) && block.type === 'text' && typeof block.text === 'string';
}
