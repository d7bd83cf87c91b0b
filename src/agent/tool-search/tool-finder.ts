import { flatSpecName } from '../../model/flat-tool-name.ts';
import type { Tool } from '../../tools/tool.ts';
import { toolSearch } from '../../tools/tool-search/tool-search.ts';
import type { TurnPart, TurnPartDeps } from '../turn/turn-part.ts';

/** Lets the model search for the tools that other parts offer as deferred. */
export class ToolFinder implements TurnPart {
  readonly #deps: TurnPartDeps;
  /** The names of the tools that were found. They are offered from then on, unless the API keeps them in the prompt. */
  readonly #found = new Set<string>();

  constructor(deps: TurnPartDeps) {
    this.#deps = deps;
  }

  arrangeTools(tools: readonly Tool[]): readonly Tool[] {
    const deferred = tools.filter(({ isDeferred }) => isDeferred === true);
    if (deferred.length === 0) return tools;
    const isNative = this.#deps.configuration().searchesTools(this.#deps.record().settings.model);
    const onFound = (found: readonly Tool[]) => {
      for (const { spec } of found) this.#found.add(flatSpecName(spec));
    };
    const arranged = isNative ? tools : tools.map((tool) => this.#offeredIfFound(tool));
    return [...arranged, toolSearch({ deferred, isNative }, onFound)];
  }

  #offeredIfFound(tool: Tool): Tool {
    const { isDeferred, ...offered } = tool;
    return isDeferred === true && this.#found.has(flatSpecName(tool.spec)) ? offered : tool;
  }
}
