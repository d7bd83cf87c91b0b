import { isObject, type JsonObject, type JsonValue } from '../../base/json-value.ts';
import { flatSpecName } from '../../model/flat-tool-name.ts';
import { foundToolsText, TOOL_SEARCH_NAME } from '../../model/found-tools.ts';
import type { ToolSpec } from '../../model/model.ts';
import { wireTools } from '../../model/responses/wire-tools.ts';
import { failed, plainAction } from '../action.ts';
import type { Tool } from '../tool.ts';
import { rankTools, type ToolWords } from './rank-tools.ts';

const LIMIT_DEFAULT = 8;
const LIMIT_MAX = 50;

const DESCRIPTION = [
  'Finds further tools that you can use. Not all of your tools are shown to you from the beginning.',
  'Search before you say that you have no tool for a task. Describe in a few words what the tool must do.',
].join(' ');

const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'Words of the name or the description of the tool.' },
    limit: { type: 'integer', description: `The most tools to return. Default: ${LIMIT_DEFAULT}.` },
  },
  required: ['query'],
  additionalProperties: false,
};

export interface ToolSearchOptions {
  /** The tools that are searched. */
  deferred: readonly Tool[];
  /**
   * Whether the provider's API has a tool for this of its own, so that found tools need not be
   * offered.
   */
  isNative: boolean;
  /** The words of tools that were searched before. */
  words: ToolWords;
}

/** `tool_search`: finds deferred tools for the model. `onFound` is told which. */
export function toolSearch(
  { deferred, isNative, words }: ToolSearchOptions,
  onFound: (tools: readonly Tool[]) => void,
): Tool {
  const type = isNative ? ('tool_search' as const) : ('function' as const);
  const spec: ToolSpec = {
    type,
    name: TOOL_SEARCH_NAME,
    description: DESCRIPTION,
    parameters: PARAMETERS,
  };
  return {
    spec,
    onlyRecords: true,
    prepare: async (args) => {
      const wanted = readArguments(args);
      if (wanted === null)
        return { ...failed(`${TOOL_SEARCH_NAME} needs \`query\`: a string.`), foundTools: [] };
      return plainAction(async () => {
        const found = await rankTools(deferred, wanted.query, { limit: wanted.limit, words });
        onFound(found);
        return { output: told(found), success: true, foundTools: loaded(found) };
      });
    },
  };
}

function readArguments(args: JsonValue): { query: string; limit: number } | null {
  const { query, limit = LIMIT_DEFAULT } = isObject(args) ? args : {};
  if (typeof query !== 'string') return null;
  const most =
    typeof limit === 'number' && Number.isFinite(limit) ? Math.round(limit) : LIMIT_DEFAULT;
  return { query, limit: Math.min(LIMIT_MAX, Math.max(1, most)) };
}

/** The found tools for a model whose API has no search. */
function told(found: readonly Tool[]): string {
  return foundToolsText(
    found.map(({ spec }) => ({ name: flatSpecName(spec), description: spec.description })),
  );
}

/** The found tools for an API that has the search. */
function loaded(found: readonly Tool[]): JsonObject[] {
  return wireTools(
    found.map(({ spec }) => spec),
    { isDeferred: true },
  );
}
