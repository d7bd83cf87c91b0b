import { contextMessage } from '../../instructions/context-message.ts';
import type { ResponseItem } from '../../protocol/generated/types.ts';
import type { ThreadState } from '../thread-state.ts';
import { type AsideAnswer, askAside } from './ask-aside.ts';

export interface SampleRequest {
  prompt: string;
  /** Null: that of the thread. */
  effort: string | null;
  /** Further facts for the provider. */
  clientMetadata: Readonly<Record<string, string>>;
}

/** Asks the model of a thread one question behind its history, without tools. The thread stays as it is. Never rejects. */
export function sampleThread(
  { state, history }: { state: ThreadState; history: readonly ResponseItem[] },
  { prompt, effort, clientMetadata }: SampleRequest,
  signal: AbortSignal,
): Promise<AsideAnswer> {
  const { id, settings, configuration } = state;
  const request = {
    model: settings.model,
    instructions: configuration.instructions.base(settings),
    input: [...history, contextMessage('user', [prompt])],
    tools: [],
    effort: effort ?? settings.effort,
    summary: null,
    outputSchema: null,
    serviceTier: settings.serviceTier,
    verbosity: configuration.verbosity,
    promptCacheKey: id,
    clientMetadata: { thread_id: id, ...clientMetadata },
  };
  return askAside(configuration.model, request, signal);
}
