import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import type { ClientTool } from '../../tools/client-tools/client-tool.ts';
import { createClientTool } from '../../tools/client-tools/create-client-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import type { TurnPart } from '../turn/turn-part.ts';
import type { TurnPartDeps } from '../turn/turn-part-deps.ts';

/** The tools that a client provides for the thread. */
export class ClientTools implements TurnPart {
  readonly #deps: TurnPartDeps;
  /** Null: they were not needed yet. */
  #tools: readonly Tool[] | null = null;

  constructor(deps: TurnPartDeps) {
    this.#deps = deps;
  }

  tools(): readonly Tool[] {
    this.#tools ??= this.#create();
    return this.#tools;
  }

  #create(): Tool[] {
    const { clock, record, configuration } = this.#deps;
    const text = record().clientTools;
    if (text === null) return [];
    const charsMax = () => charsOfTokens(configuration().commands.limits.tokensMax);
    return (JSON.parse(text) as ClientTool[]).map((tool) =>
      createClientTool(tool, { clock, charsMax }),
    );
  }
}
