import type { JsonValue } from '../../base/json-value.ts';
import type { Log } from '../../base/log.ts';
import type { Pace } from '../../base/pace.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { Action, ActionOutcome } from '../../tools/action.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';

/** A call as the model made it. `local_shell_call` comes from older models, and is answered like a function call. */
export type ToolCall =
  | Extract<ResponseItem, { type: 'function_call' | 'custom_tool_call' }>
  | (Extract<ResponseItem, { type: 'local_shell_call' }> & { call_id: string });

export function isToolCall(item: ResponseItem): item is ToolCall {
  if (item.type === 'local_shell_call') return typeof item.call_id === 'string';
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

function toolName(call: ToolCall): string {
  return call.type === 'local_shell_call' ? 'local_shell' : call.name;
}

interface ToolCallDeps {
  /** The tools that were offered with the request that the calls answer. */
  tools: readonly Tool[];
  context: (call: ToolCall) => CallContext;
  perform: (action: Action) => Promise<ActionOutcome>;
  pace: Pace;
  log: Log;
}

/**
 * Runs calls that the model made together, and returns their outputs in the order of the calls. They run in parallel, except that a
 * call of an exclusive tool runs alone. Never rejects.
 */
export function runToolCalls(calls: readonly ToolCall[], deps: ToolCallDeps, signal: AbortSignal): Promise<ResponseItem[]> {
  let alone: Promise<unknown> = Promise.resolve();
  let beside: Promise<unknown>[] = [];
  return Promise.all(
    calls.map((call) => {
      const isExclusive = findTool(deps.tools, call)?.isExclusive === true;
      const before = isExclusive ? Promise.all([alone, ...beside]) : alone;
      const output = before.then(() => deps.pace.mayBegin()).then(() => outputOf(call, deps, signal));
      if (isExclusive) [alone, beside] = [output, []];
      else beside.push(output);
      return output;
    }),
  );
}

/** Whether all of these calls are of tools that only keep records. */
export function onlyRecord(calls: readonly ToolCall[], tools: readonly Tool[]): boolean {
  return calls.every((call) => findTool(tools, call)?.onlyRecords === true);
}

/** Runs one call and returns the output item that goes back to the model. Never rejects. */
async function outputOf(call: ToolCall, deps: ToolCallDeps, signal: AbortSignal): Promise<ResponseItem> {
  const { output, success } = await run(call, deps, signal);
  const type = call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: call.call_id, output: success ? output : { body: output, success } };
}

async function run(call: ToolCall, { tools, context, perform, pace, log }: ToolCallDeps, signal: AbortSignal): Promise<ActionOutcome> {
  const name = toolName(call);
  const tool = findTool(tools, call);
  if (tool === undefined) return { output: `There is no tool named ${name}. The tools are: ${namesOf(tools).join(', ')}.`, success: false };
  const args = argumentsOf(call);
  if (args === undefined) return { output: `The arguments of ${name} are not valid JSON.`, success: false };
  try {
    if (signal.aborted) return NOT_BEGUN;
    const prepared = await pace.during(tool.prepare(args, context(call)));
    return 'perform' in prepared ? await perform(prepared) : prepared;
  } catch (error) {
    log.error({ err: error, tool: name }, 'a tool failed');
    return { output: `${name} failed inside the server: ${error instanceof Error ? error.message : String(error)}`, success: false };
  }
}

/** For a call that was waiting when its turn was interrupted. Clients do not see it. */
const NOT_BEGUN: ActionOutcome = { output: 'The turn was interrupted before this call began.', success: false };

function findTool(tools: readonly Tool[], call: ToolCall): Tool | undefined {
  const name = toolName(call);
  return tools.find(({ spec }) => spec.name === name);
}

function namesOf(tools: readonly Tool[]): string[] {
  return tools.filter(({ offered }) => offered !== false).map(({ spec }) => spec.name);
}

/** The arguments of a call; undefined if they are not valid JSON. */
function argumentsOf(call: ToolCall): JsonValue | undefined {
  if (call.type === 'function_call') return parseArguments(call.arguments);
  return call.type === 'custom_tool_call' ? call.input : { ...call.action };
}

function parseArguments(json: string): JsonValue | undefined {
  try {
    return JSON.parse(json.trim() === '' ? '{}' : json) as JsonValue;
  } catch {
    return undefined;
  }
}
