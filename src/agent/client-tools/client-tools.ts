import { charsOfTokens } from '../../base/text/estimate-tokens.ts';
import type { ClientTool } from '../../tools/client-tools/client-tool.ts';
import { createClientTool } from '../../tools/client-tools/create-client-tool.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ThreadContext } from '../thread-context.ts';
import type { TurnPart } from '../turn/turn-part.ts';

/** The tools that a client provides for the thread. */
export class ClientTools implements TurnPart {
  readonly #thread: ThreadContext;
  /** Null: they were not needed yet. */
  #tools: readonly Tool[] | null = null;

  constructor(thread: ThreadContext) {
    this.#thread = thread;
  }

  tools(soFar: readonly Tool[]): readonly Tool[] {
    this.#tools ??= this.#create();
    return [...soFar, ...this.#tools];
  }

  #create(): Tool[] {
    const { state, services } = this.#thread;
    const { clock } = services.runtime;
    const text = state.record.clientTools;
    if (text === null) return [];
    const charsMax = () => charsOfTokens(state.configuration.commands.limits.tokensMax);
    return (JSON.parse(text) as ClientTool[]).map((tool) =>
      createClientTool(tool, { clock, charsMax }),
    );
  }
}
