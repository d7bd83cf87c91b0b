import type { ThreadContext } from '../thread-context.ts';
import type { CompactionTrigger } from '../turn/turn-events.ts';
import type { TurnContext } from '../turn/turn-part.ts';

/** Interrupts the turn if a part stops it before or after its compaction, and returns whether. */
export async function interruptedByPart(
  { parts, state }: ThreadContext,
  event: 'compacting' | 'compacted',
  { trigger, turn }: { trigger: CompactionTrigger; turn: TurnContext },
): Promise<boolean> {
  const effects = await parts.emit(event, { trigger }, turn);
  if (effects?.stop !== true) return false;
  state.turn?.interrupt('hook');
  return true;
}
