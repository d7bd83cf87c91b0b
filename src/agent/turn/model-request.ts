import type { ModelRequest } from '../../model/model.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import { offeredSpecs, type Tool } from '../../tools/tool.ts';
import { effortOf } from '../settings/resolve-settings.ts';
import type { ThreadConfiguration } from '../settings/thread-configuration.ts';
import type { ActiveTurn } from './active-turn.ts';

interface ModelRequestDeps {
  threadId: string;
  configuration: ThreadConfiguration;
  /** The prompt. */
  input: ResponseItem[];
  tools: readonly Tool[];
}

/** Builds a turn's next request to the model. */
export function modelRequest(
  { settings, outputSchema }: ActiveTurn,
  { threadId, configuration, input, tools }: ModelRequestDeps,
): ModelRequest {
  const webSearch = configuration.tools.webSearch(settings);
  return {
    model: settings.model,
    instructions: configuration.instructions.base(settings),
    input,
    tools: offeredSpecs(tools),
    effort: effortOf(settings),
    summary: settings.summary,
    outputSchema,
    serviceTier: settings.serviceTier,
    verbosity: configuration.responses.verbosity,
    ...(webSearch === null ? {} : { webSearch }),
    promptCacheKey: threadId,
  };
}
