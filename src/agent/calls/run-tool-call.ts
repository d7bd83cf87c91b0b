import type { JsonValue } from '../../base/json-value.ts';
import type { Log } from '../../base/log.ts';
import type { Pace } from '../../base/pace.ts';
import { parseJson } from '../../base/parse-long-json.ts';
import { contextMessage } from '../../instructions/messages/context-message.ts';
import { flatSpecName } from '../../model/flat-tool-name.ts';
import { TOOL_SEARCH_NAME } from '../../model/found-tools.ts';
import type { ToolSpec } from '../../model/model.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { LogEntry } from '../../store/log-entry.ts';
import type { Action, ActionOutcome } from '../../tools/action.ts';
import { type CallContext, offeredSpecs, type Tool } from '../../tools/tool.ts';
import type { PendingCall, TurnEffects } from '../turn/turn-events.ts';
import type { CallOutput, PerformedAction, PerformedCall } from './performed-call.ts';

/**
 * A call as the model made it. `local_shell_call` comes from older models, and is answered like a
 * function call. `tool_search_call` is one of `tool_search` where the API has that tool itself.
 */
export type ToolCall =
  | Extract<ResponseItem, { type: 'function_call' | 'custom_tool_call' }>
  | (Extract<ResponseItem, { type: 'tool_search_call' }> & { call_id: string })
  | (Extract<ResponseItem, { type: 'local_shell_call' }> & { call_id: string });

export function isToolCall(item: ResponseItem): item is ToolCall {
  if (item.type === 'local_shell_call') return typeof item.call_id === 'string';
  if (item.type === 'tool_search_call')
    return typeof item.call_id === 'string' && item.execution === 'client';
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

function toolName(call: ToolCall): string {
  if (call.type === 'tool_search_call') return TOOL_SEARCH_NAME;
  return call.type === 'local_shell_call' ? 'local_shell' : call.name;
}

export interface ToolCallDeps {
  turnId: string;
  /** The tools that were offered with the request that the call answers. */
  tools: readonly Tool[];
  context: (call: ToolCall) => CallContext;
  /**
   * Decides about a call. Null: the turn was interrupted meanwhile. Rejects only with the store's
   * error.
   */
  before: (call: PendingCall) => Promise<TurnEffects['call'] | null>;
  /** Performs an action of a call. If its item completes, the output is stored with it. */
  perform: (action: Action, call: PerformedCall) => Promise<PerformedAction>;
  /** Whether `after` may change the output of this call. */
  watches: (call: PendingCall) => boolean;
  /**
   * Returns the outcome of a watched call as it counts, and messages for the model. Rejects only
   * with the store's error.
   */
  after: (
    call: PendingCall,
    outcome: ActionOutcome,
  ) => Promise<{ outcome: ActionOutcome; tell: ResponseItem[] }>;
  /** Takes entries out that are not for the thread's log. */
  withoutOwn: (entries: LogEntry[]) => LogEntry[];
  store: (entries: LogEntry[]) => Promise<void>;
  pace: Pace;
  log: Log;
}

/**
 * Runs one call and stores its output, if it was not stored with its item. If the signal has
 * aborted, the call does not begin. Rejects only with the store's error.
 */
export async function runToolCall(
  call: ToolCall,
  deps: ToolCallDeps,
  signal: AbortSignal,
): Promise<void> {
  const output = outputOf(call, deps);
  const outcome = await outcomeOf(call, output, { deps, signal });
  const entries = output.entries(outcome);
  if (entries.length > 0) await deps.store(entries);
}

interface CalledOutput extends CallOutput {
  /** Whether no part has changed the arguments of the call. */
  isAsCalled: boolean;
}

function outputOf(
  call: ToolCall,
  { turnId, withoutOwn }: Pick<ToolCallDeps, 'turnId' | 'withoutOwn'>,
): CalledOutput {
  let isMade = false;
  const made = (outcome: ActionOutcome, replaces: { replaces?: true }) => {
    const author = callOutput.isAsCalled && outcome.author && { author: outcome.author };
    const output: LogEntry = {
      kind: 'model',
      turnId,
      item: outputItem(call, outcome),
      ...replaces,
      ...author,
    };
    return withoutOwn([
      output,
      ...searchText(call, outcome).map(
        (item): LogEntry => ({ kind: 'model', turnId, item, author: 'server' }),
      ),
    ]);
  };
  const callOutput: CalledOutput = {
    isAsCalled: true,
    entries(outcome) {
      if (isMade) return [];
      isMade = true;
      return made(outcome, {});
    },
    replacement: (outcome) => made(outcome, { replaces: true }),
  };
  return callOutput;
}

function outputItem(call: ToolCall, { output, success, foundTools }: ActionOutcome): ResponseItem {
  const { call_id } = call;
  if (call.type === 'tool_search_call')
    return {
      type: 'tool_search_output',
      call_id,
      execution: 'client',
      status: 'completed',
      tools: [...(foundTools ?? [])],
    };
  const type =
    call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id, output: success ? output : { body: output, success } };
}

/**
 * The output of a search has tools and no text: a search without a result is answered with a
 * message beside it.
 */
function searchText({ type }: ToolCall, { output, foundTools }: ActionOutcome): ResponseItem[] {
  return type === 'tool_search_call' && foundTools === undefined
    ? [contextMessage('developer', [String(output)])]
    : [];
}

/** Never rejects: an error inside the server is an outcome, which the model reads. */
async function outcomeOf(
  call: ToolCall,
  callOutput: CalledOutput,
  { deps, signal }: { deps: ToolCallDeps; signal: AbortSignal },
): Promise<ActionOutcome> {
  const { tools, context, pace, log } = deps;
  const name = toolName(call);
  const tool = findTool(tools, call);
  if (tool === undefined) return { output: noTool(call, tools), success: false };
  const args = await argumentsOf(call);
  if (args === undefined)
    return { output: `The arguments of ${name} are not valid JSON.`, success: false };
  try {
    if (signal.aborted) return NOT_BEGUN;
    const asked = pendingCall(call, tool, args);
    const decision = await deps.before(asked);
    if (decision === null) return NOT_BEGUN;
    await tell(decision.tell ?? [], deps);
    if (decision.refuse !== undefined) return { output: decision.refuse, success: false };
    const pending = decision.args === undefined ? asked : { ...asked, args: decision.args };
    const prepared = await pace.during(tool.prepare(pending.args, context(call)));
    if (!('perform' in prepared)) return prepared;
    // Then the user answers another question than the one that is in the history.
    if (decision.args !== undefined) callOutput.isAsCalled = false;
    return await performed(
      prepared,
      { call: pending, output: callOutput, ask: decision.ask ?? null },
      deps,
    );
  } catch (error) {
    log.error({ err: error, tool: name }, 'a tool failed');
    return {
      output: `${name} failed inside the server: ${error instanceof Error ? error.message : String(error)}`,
      success: false,
    };
  }
}

function pendingCall(call: ToolCall, { spec, hookForm }: Tool, args: JsonValue): PendingCall {
  return {
    callId: call.call_id,
    tool: spec.name,
    namespace: namespaceName(spec),
    args,
    ...(hookForm && { hookForm }),
  };
}

/** Performs the action of a call. Parts that watch the call may change its output. */
async function performed(
  action: Action,
  performedCall: PerformedCall,
  deps: ToolCallDeps,
): Promise<ActionOutcome> {
  const { call, output } = performedCall;
  const { outcome, isPerformed } = await deps.perform(action, performedCall);
  if (!isPerformed || !deps.watches(call)) return outcome;
  // A kill must not lose it while the parts look at it.
  const entries = output.entries(outcome);
  if (entries.length > 0) await deps.store(entries);
  const after = await deps.after(call, outcome);
  await tell(after.tell, deps);
  if (after.outcome !== outcome) await deps.store(output.replacement(after.outcome));
  return after.outcome;
}

function noTool(call: ToolCall, tools: readonly Tool[]): string {
  const namespace = namespaceOf(call);
  const place = namespace === null ? '' : ` in the namespace ${namespace}`;
  return `There is no tool named ${toolName(call)}${place}. The tools are: ${offeredSpecs(tools).map(flatSpecName).join(', ')}.`;
}

/** Stores messages that the model reads with the output of a call. */
async function tell(
  messages: readonly ResponseItem[],
  { turnId, withoutOwn, store }: ToolCallDeps,
): Promise<void> {
  const entries = withoutOwn(
    messages.map((item) => ({ kind: 'model', turnId, item, author: 'server' })),
  );
  if (entries.length > 0) await store(entries);
}

/** For a call that was waiting when its turn was interrupted. Clients do not see it. */
const NOT_BEGUN: ActionOutcome = {
  output: 'The turn was interrupted before this call began.',
  success: false,
  foundTools: [],
};

/** The offered tool that a call names. */
export function findTool(tools: readonly Tool[], call: ToolCall): Tool | undefined {
  const name = toolName(call);
  const namespace = namespaceOf(call);
  const named = tools.find(({ spec }) => spec.name === name && namespaceName(spec) === namespace);
  // APIs without namespaces know a tool by its flat name.
  return (
    named ??
    (namespace === null ? tools.find(({ spec }) => flatSpecName(spec) === name) : undefined)
  );
}

function namespaceOf(call: ToolCall): string | null {
  return (call.type === 'function_call' ? call.namespace : null) || null;
}

function namespaceName(spec: ToolSpec): string | null {
  return (spec.type === 'function' && spec.namespace?.name) || null;
}

/** The arguments of a call; undefined if they are not valid JSON. */
async function argumentsOf(call: ToolCall): Promise<JsonValue | undefined> {
  if (call.type === 'function_call') return parseArguments(call.arguments);
  if (call.type === 'tool_search_call') return searchArguments(call.arguments);
  return call.type === 'custom_tool_call' ? call.input : { ...call.action };
}

/** Some providers send the arguments of a search as JSON text. */
async function searchArguments(args: unknown): Promise<JsonValue | undefined> {
  return typeof args === 'string' ? parseArguments(args) : ((args ?? {}) as JsonValue);
}

async function parseArguments(json: string): Promise<JsonValue | undefined> {
  return (await parseJson(json.trim() === '' ? '{}' : json)) as JsonValue | undefined;
}
