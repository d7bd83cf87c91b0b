import type { JsonValue } from '../../base/json-value.ts';
import type { Log } from '../../base/log.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { Tool, ToolContext, ToolResult } from '../../tools/tool.ts';

/** A call as the model made it. One of a shell of its own, as older models know it, is answered like that of a function. */
export type ToolCall =
  | Extract<ResponseItem, { type: 'function_call' | 'custom_tool_call' }>
  | (Extract<ResponseItem, { type: 'local_shell_call' }> & { call_id: string });

export function isToolCall(item: ResponseItem): item is ToolCall {
  if (item.type === 'local_shell_call') return typeof item.call_id === 'string';
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

/** What the tool is called. */
export function toolName(call: ToolCall): string {
  return call.type === 'local_shell_call' ? 'local_shell' : call.name;
}

/**
 * Runs calls that the model made together, beside each other but for those that must be alone, and gives their outputs in the
 * same order. Never rejects.
 */
export function runToolCalls(
  calls: readonly ToolCall[],
  options: { tools: readonly Tool[]; context: (call: ToolCall) => ToolContext; log: Log },
  signal: AbortSignal,
): Promise<ResponseItem[]> {
  const { tools, context, log } = options;
  let alone: Promise<unknown> = Promise.resolve();
  let beside: Promise<unknown>[] = [];
  return Promise.all(
    calls.map((call) => {
      const isAlone = tools.find(({ spec }) => spec.name === toolName(call))?.exclusive === true;
      const before = isAlone ? Promise.all([alone, ...beside]) : alone;
      const output = before.then(() => runToolCall(call, { tools, context: context(call), log }, signal));
      if (isAlone) [alone, beside] = [output, []];
      else beside.push(output);
      return output;
    }),
  );
}

/** Runs one call and gives the output item that goes back to the model. Never rejects. */
async function runToolCall(
  call: ToolCall,
  { tools, context, log }: { tools: readonly Tool[]; context: ToolContext; log: Log },
  signal: AbortSignal,
): Promise<ResponseItem> {
  const { output, success } = await run(call, { tools, context, log }, signal);
  const type = call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output';
  return { type, call_id: call.call_id, output: success ? output : { body: output, success } };
}

async function run(
  call: ToolCall,
  { tools, context, log }: { tools: readonly Tool[]; context: ToolContext; log: Log },
  signal: AbortSignal,
): Promise<ToolResult> {
  const name = toolName(call);
  const tool = tools.find(({ spec }) => spec.name === name);
  if (tool === undefined) return { output: `There is no tool named ${name}. There are: ${namesOf(tools).join(', ')}.`, success: false };
  const args = argumentsOf(call);
  if (args === undefined) return { output: `The arguments of ${name} are not JSON.`, success: false };
  try {
    if (signal.aborted) return NOT_BEGUN;
    return await tool.run(args, context, signal);
  } catch (error) {
    log.error({ err: error, tool: name }, 'a tool failed');
    return { output: `${name} failed inside the server: ${error instanceof Error ? error.message : String(error)}`, success: false };
  }
}

/** Of a call whose turn comes when the turn has been interrupted nothing is shown. */
const NOT_BEGUN: ToolResult = { output: 'The turn was interrupted before this call had begun.', success: false };

function namesOf(tools: readonly Tool[]): string[] {
  return tools.filter(({ offered }) => offered !== false).map(({ spec }) => spec.name);
}

/** Undefined: they are no JSON. */
function argumentsOf(call: ToolCall): JsonValue | undefined {
  if (call.type === 'function_call') return parseArguments(call.arguments);
  return call.type === 'custom_tool_call' ? call.input : { ...call.action };
}

function parseArguments(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text) as JsonValue;
  } catch {
    return undefined;
  }
}
