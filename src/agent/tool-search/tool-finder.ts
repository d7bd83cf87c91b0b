import { flatSpecName } from '../../model/flat-tool-name.ts';
import { foundTools } from '../../model/found-tools.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ToolWords } from '../../tools/tool-search/rank-tools.ts';
import { toolSearch } from '../../tools/tool-search/tool-search.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnPart } from '../turn/turn-part.ts';

/** Lets the model search for the tools that other parts offer as deferred. */
export class ToolFinder implements TurnPart {
  readonly #thread: ThreadContext;
  readonly #words: ToolWords = new WeakMap();
  /**
   * The names of the tools that were found, at first those that the history tells of. They are
   * offered from then on. Null: the history was not asked yet, or the API keeps them in the prompt.
   */
  #found: Promise<Set<string>> | null = null;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
  }

  async tools(tools: readonly Tool[]): Promise<readonly Tool[]> {
    const deferred = tools.filter(({ isDeferred }) => isDeferred === true);
    if (deferred.length === 0) return tools;
    const isNative = this.#thread.state.configuration.tools.searchesTools(
      this.#thread.state.record.settings.model,
    );
    const search = { deferred, isNative, words: this.#words };
    if (isNative) {
      // If the thread changes to a model that does not search, the history tells what was found.
      this.#found = null;
      return [...tools, toolSearch(search, () => undefined)];
    }
    this.#found ??= this.#foundBefore();
    const found = await this.#found;
    const onFound = (these: readonly Tool[]) => {
      for (const { spec } of these) found.add(flatSpecName(spec));
    };
    return [...tools.map((tool) => offeredIfFound(tool, found)), toolSearch(search, onFound)];
  }

  async #foundBefore(): Promise<Set<string>> {
    try {
      const prompt = await this.#thread.history.prompt();
      return new Set(foundTools(prompt?.items ?? []).map(({ name }) => name));
    } catch (error) {
      this.#found = null;
      throw error;
    }
  }
}

function offeredIfFound(tool: Tool, found: ReadonlySet<string>): Tool {
  const { isDeferred, ...offered } = tool;
  return isDeferred === true && found.has(flatSpecName(tool.spec)) ? offered : tool;
}
