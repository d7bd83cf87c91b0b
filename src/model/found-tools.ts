import { isObject } from '../base/json-value.ts';
import type { FunctionCallOutput, ResponseItem } from '../protocol/generated/types.ts';
import { flatToolName } from './flat-tool-name.ts';

/** The name of the tool that finds deferred tools. */
export const TOOL_SEARCH_NAME = 'tool_search';

const FOUND = 'You can call these tools from now on:\n';

/** A tool that a search has found, by its flat name. */
export interface FoundTool {
  name: string;
  description: string;
}

/**
 * The output of a search for a model whose API has no search: it is offered these tools with its
 * next request.
 */
export function foundToolsText(found: readonly FoundTool[]): string {
  if (found.length === 0) return 'No tool was found. Try other words.';
  return `${FOUND}${JSON.stringify(found, null, 1)}`;
}

/** The tools that the searches of a history have found. */
export function foundTools(history: readonly ResponseItem[]): FoundTool[] {
  const searches = new Set<unknown>();
  return history.flatMap((item) => {
    if (item.type === 'function_call' && item.name === TOOL_SEARCH_NAME) searches.add(item.call_id);
    if (item.type === 'tool_search_output') return toolsOf(item.tools, null);
    return item.type === 'function_call_output' && searches.has(item.call_id)
      ? toldTools(item.output)
      : [];
  });
}

/**
 * An item of the Responses API's own search for a model that does not know it: a call of the
 * function `tool_search`, or its output. Other items as they are. Null: it has no such form,
 * because the provider itself has searched.
 */
export function searchAsFunction(item: ResponseItem): ResponseItem | null {
  if (item.type !== 'tool_search_call' && item.type !== 'tool_search_output') return item;
  const { call_id } = item;
  if (!call_id || item.execution !== 'client') return null;
  if (item.type === 'tool_search_output')
    return {
      type: 'function_call_output',
      call_id,
      output: foundToolsText(toolsOf(item.tools, null)),
    };
  const args =
    typeof item.arguments === 'string' ? item.arguments : JSON.stringify(item.arguments ?? {});
  return { type: 'function_call', call_id, name: TOOL_SEARCH_NAME, arguments: args };
}

/** The tools of an output, as the API has them: those of a namespace are together. */
function toolsOf(tools: readonly unknown[], namespace: string | null): FoundTool[] {
  return tools.filter(isObject).flatMap(({ type, name, description, tools: inner }) => {
    if (typeof name !== 'string') return [];
    if (type === 'namespace') return Array.isArray(inner) ? toolsOf(inner as unknown[], name) : [];
    return [
      {
        name: flatToolName(name, namespace),
        description: typeof description === 'string' ? description : '',
      },
    ];
  });
}

/** Reads the text of `foundToolsText`. */
function toldTools(output: FunctionCallOutput): FoundTool[] {
  if (typeof output !== 'string' || !output.startsWith(FOUND)) return [];
  try {
    return toolsOf(JSON.parse(output.slice(FOUND.length)) as unknown[], null);
  } catch {
    return [];
  }
}
