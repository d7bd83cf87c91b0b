import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { contextMessage } from '../../instructions/context-message.ts';
import type { AskedQuestion } from '../../mcp/mcp-user.ts';
import type { McpAnswer } from '../../mcp/to-host.ts';
import type { ModelRequest } from '../../model/model.ts';
import { mayAsk } from '../../policy/permissions/may-ask.ts';
import type { McpServerElicitationRequestResponse, ResponseItem, ServerRequests } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';
import { type ActionHost, type Ask, UNCONFINED } from '../../tools/action.ts';
import { unanswered } from '../../tools/denial.ts';
import { askAside } from '../aside/ask-aside.ts';
import type { TurnPartDeps } from '../turn/turn-part.ts';
import { elicitationForm } from './elicitation-form.ts';

/** The call in whose course a server asks. */
export interface AskingCall {
  threadId: string;
  /** Null: a client has called the tool, outside of any turn. */
  turnId: string | null;
  itemId: string;
  server: string;
  settings: ThreadSettings;
  host: Pick<ActionHost, 'askUser' | 'requestMore' | 'signal'>;
}

type ElicitationParams = ServerRequests['mcpServer/elicitation/request']['params'];

const INVALID_PARAMS = -32602;
const REFUSED = -1;
const INTERNAL = -32603;

/** Answers a question of a server, for the thread whose call it is. `tag` is its `AskingCall`. */
export async function answerQuestion(question: AskedQuestion, tag: unknown, deps: TurnPartDeps, signal: AbortSignal): Promise<McpAnswer> {
  if (tag === undefined) return question.kind === 'elicitation' ? { result: { action: 'decline' } } : refusal('nobody can be asked');
  const call = tag as AskingCall;
  if (question.kind === 'elicitation') return elicit(question.params, call, signal);
  return sample(question.params, call, deps, signal);
}

async function elicit(params: JsonObject, call: AskingCall, withdrawn: AbortSignal): Promise<McpAnswer> {
  if (!mayAsk(call.settings.approvalPolicy, 'mcp_elicitations')) return { result: { action: 'decline' } };
  const asked = elicitationParams(params, call);
  if (typeof asked === 'string') return { error: { code: INVALID_PARAMS, message: asked } };
  const answer = await call.host.askUser({ method: 'mcpServer/elicitation/request', params: asked }, withdrawn);
  if (answer.type !== 'result') return { result: { action: answer.type === 'aborted' ? 'cancel' : 'decline' } };
  return { result: elicitationResult(answer.result, asked.mode) };
}

function elicitationResult({ action, content, _meta }: McpServerElicitationRequestResponse, mode: 'form' | 'url'): JsonObject {
  const given = action === 'accept' && mode === 'form' ? { content: (isObject(content) ? content : {}) as JsonObject } : {};
  return { action, ...given, ...(isObject(_meta) ? { _meta: _meta as JsonObject } : {}) };
}

/** The question as clients get it, or why they cannot. */
function elicitationParams(params: JsonObject, { threadId, turnId, server }: AskingCall): ElicitationParams | string {
  const { mode, message, requestedSchema, url, elicitationId, _meta } = params;
  const common = { threadId, turnId, serverName: server, _meta: metaOfServer(_meta), message: String(message ?? '') };
  if (mode === 'url') {
    const address = String(url ?? '');
    if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return 'the url is not an http or https URL';
    return { ...common, mode: 'url', url: address, elicitationId: String(elicitationId ?? '') };
  }
  const form = elicitationForm(requestedSchema);
  return form === null ? 'the requested schema is not one of an elicitation form' : { ...common, mode: 'form', requestedSchema: form };
}

/** Without the keys by which clients recognize the server's own questions about approvals. */
function metaOfServer(meta: JsonValue | undefined): JsonObject | null {
  if (!isObject(meta)) return null;
  return Object.fromEntries(Object.entries(meta as JsonObject).filter(([key]) => !key.startsWith('codex_') && key !== 'persist'));
}

/** The server wants the model to answer a prompt: the reviewer of the thread has to allow it. */
async function sample(params: JsonObject, call: AskingCall, deps: TurnPartDeps, signal: AbortSignal): Promise<McpAnswer> {
  const messages = Array.isArray(params.messages) ? (params.messages as JsonObject[]) : [];
  if (params.tools !== undefined) return refusal('tools are not offered to the model in the course of sampling');
  if (!mayAsk(call.settings.approvalPolicy, 'mcp_elicitations')) return refusal('the approval policy does not allow it');
  const verdict = await call.host.requestMore({ ...samplingAsk(params, call), signal });
  if ('deny' in verdict) return refusal('the user refused it');
  const input = messages.flatMap(inputItem);
  if (input.length === 0) return { error: { code: INVALID_PARAMS, message: 'the prompt has no text' } };
  const configuration = deps.configuration();
  const request: ModelRequest = {
    model: call.settings.model,
    instructions: typeof params.systemPrompt === 'string' ? params.systemPrompt : 'Answer the request of a tool that helps the user.',
    input,
    tools: [],
    effort: call.settings.effort,
    summary: null,
    outputSchema: null,
    serviceTier: call.settings.serviceTier,
    verbosity: configuration.verbosity,
    promptCacheKey: `${call.threadId}:mcp`,
    clientMetadata: { thread_id: call.threadId, purpose: 'mcp_sampling' },
  };
  const answer = await askAside(configuration.model, request, AbortSignal.any([signal, call.host.signal]));
  if (!('text' in answer)) return { error: { code: INTERNAL, message: answer.error?.message ?? 'the model gave no answer' } };
  return { result: { role: 'assistant', model: request.model, stopReason: 'endTurn', content: { type: 'text', text: answer.text } } };
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
      shown: { type: 'mcpToolCall', server, toolName: 'sampling/createMessage', toolTitle: null, connectorId: null, connectorName: null },
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
      return answer.result.action === 'accept' ? { allow: UNCONFINED, scope: 'once' } : { deny: { by: 'declined' } };
    },
  };
}

function inputItem(message: JsonObject): ResponseItem[] {
  const blocks = (Array.isArray(message.content) ? message.content : [message.content]) as unknown[];
  const texts = blocks.flatMap((block) => (isObject(block) && block.type === 'text' && typeof block.text === 'string' ? block.text : []));
  if (texts.length === 0) return [];
  if (message.role === 'assistant')
    return [{ type: 'message', role: 'assistant', content: texts.map((text) => ({ type: 'output_text' as const, text })) }];
  return [contextMessage('user', texts)];
}
