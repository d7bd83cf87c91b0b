import type { ThreadContext } from '../thread-context.ts';
import type { CompactionTrigger } from '../turn/turn-events.ts';
import type { TurnContext } from '../turn/turn-part.ts';

/** Whether a part stops the turn before or after its compaction. The turn is then interrupted. */
export async function stoppedByPart(
  { parts, state }: ThreadContext,
  event: 'compacting' | 'compacted',
  { trigger, turn }: { trigger: CompactionTrigger; turn: TurnContext },
): Promise<boolean> {
  const effects = await parts.emit(event, { trigger }, turn);
  if (effects?.stop !== true) return false;
  state.turn?.interrupt('hook');
  return true;
}
