import { contextMessage } from '../../instructions/messages/context-message.ts';
import type { PromptHistory } from '../prompt/prompt-history.ts';
import type { ThreadState } from '../thread-state.ts';
import { type AsideAnswer, askAside } from './ask-aside.ts';

export interface SampleRequest {
  prompt: string;
  /** Null: that of the thread. */
  effort: string | null;
  /** Further facts for the provider. */
  clientMetadata: Readonly<Record<string, string>>;
}

/**
 * Asks the model of a thread one question behind its history, without tools. The thread stays as it
 * is. Null: the history is too large. Rejects with the store's error.
 */
export async function sampleThread(
  { state, history }: { state: ThreadState; history: PromptHistory },
  { prompt, effort, clientMetadata }: SampleRequest,
  signal: AbortSignal,
): Promise<AsideAnswer | null> {
  const read = await history.prompt();
  if (read === null) return null;
  if (signal.aborted) return { error: null };
  const { id, settings, configuration } = state;
  const request = {
    model: settings.model,
    instructions: configuration.instructions.base(settings),
    input: [...read.items, contextMessage('user', [prompt])],
    tools: [],
    effort: effort ?? settings.effort,
    summary: null,
    outputSchema: null,
    serviceTier: settings.serviceTier,
    verbosity: configuration.responses.verbosity,
    promptCacheKey: id,
    clientMetadata: { thread_id: id, ...clientMetadata },
  };
  return askAside(configuration.model, request, signal);
}
