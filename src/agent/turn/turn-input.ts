import type { Ids } from '../../base/ids.ts';
import type { ResponseItem, TurnStartParams, TurnSteerParams } from '../../protocol/generated/types.ts';
import type { LogEntry, ThreadSettings } from '../../store/thread-store.ts';
import type { Instructions } from '../prompt/instructions.ts';
import { additionalContext, userMessage, userMessageItem } from '../prompt/user-message.ts';
import type { TurnInput } from './active-turn.ts';

interface TurnInputDeps {
  settings: ThreadSettings;
  instructions: Instructions;
  ids: Ids;
  atMs: number;
}

/** The input of a request, for clients and for the model; null if the request has none. */
export async function turnInput(
  params: TurnStartParams | TurnSteerParams,
  { settings, instructions, ids, atMs }: TurnInputDeps,
): Promise<TurnInput | null> {
  const model = [
    ...additionalContext(params.additionalContext ?? null),
    await userMessage(params.input),
    ...(await instructions.skillsNamedIn(params.input, settings.cwd)),
  ].filter((item) => item !== null);
  if (params.input.length === 0 && model.length === 0) return null;
  return { item: userMessageItem(ids.next(), params.input, params.clientUserMessageId ?? null), model, atMs };
}

/** The log entries of this input. */
export function inputEntries(turnId: string, input: TurnInput | null): LogEntry[] {
  if (input === null) return [];
  const { item, model, atMs } = input;
  return [{ kind: 'item', turnId, item, startedAtMs: atMs, completedAtMs: atMs }, ...modelEntries(turnId, model)];
}

export function modelEntries(turnId: string, items: readonly ResponseItem[]): LogEntry[] {
  return items.map((item) => ({ kind: 'model', turnId, item }));
}
