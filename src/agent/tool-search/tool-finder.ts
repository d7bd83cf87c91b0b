import { flatSpecName } from '../../model/flat-tool-name.ts';
import { foundTools } from '../../model/found-tools.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ToolWords } from '../../tools/tool-search/rank-tools.ts';
import { toolSearch } from '../../tools/tool-search/tool-search.ts';
import type { TurnPart, TurnPartDeps } from '../turn/turn-part.ts';

/** Lets the model search for the tools that other parts offer as deferred. */
export class ToolFinder implements TurnPart {
  readonly #deps: TurnPartDeps;
  readonly #words: ToolWords = new WeakMap();
  /**
   * The names of the tools that were found, at first those that the history tells of. They are offered from then on, unless the API keeps
   * them in the prompt. Null: the history was not asked yet.
   */
  #found: Promise<Set<string>> | null = null;

  constructor(deps: TurnPartDeps) {
    this.#deps = deps;
  }

  async arrangeTools(tools: readonly Tool[]): Promise<readonly Tool[]> {
    const deferred = tools.filter(({ isDeferred }) => isDeferred === true);
    if (deferred.length === 0) return tools;
    this.#found ??= this.#foundBefore();
    const found = await this.#found;
    const isNative = this.#deps.configuration().searchesTools(this.#deps.record().settings.model);
    const onFound = (these: readonly Tool[]) => {
      for (const { spec } of these) found.add(flatSpecName(spec));
    };
    const arranged = isNative ? tools : tools.map((tool) => offeredIfFound(tool, found));
    return [...arranged, toolSearch({ deferred, isNative, words: this.#words }, onFound)];
  }

  async #foundBefore(): Promise<Set<string>> {
    const prompt = await this.#deps.history.prompt();
    return new Set(foundTools(prompt?.items ?? []).map(({ name }) => name));
  }
}

function offeredIfFound(tool: Tool, found: ReadonlySet<string>): Tool {
  const { isDeferred, ...offered } = tool;
  return isDeferred === true && found.has(flatSpecName(tool.spec)) ? offered : tool;
}
