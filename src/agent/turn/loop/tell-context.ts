import { withAdditional } from '../../prompt/additional-context.ts';
import type { ThreadContext } from '../../thread-context.ts';
import type { ActiveTurn } from '../active-turn.ts';
import { modelEntries } from '../turn-input.ts';

/**
 * Stores the context of the turn's settings for the model, as far as it was not told. Rejects with
 * the store's error.
 */
export async function tellContext(
  { state, services, outbox, grants }: ThreadContext,
  { id, settings }: ActiveTurn,
): Promise<void> {
  const { told, messages } = await state.configuration.instructions.contextUpdate({
    settings,
    granted: grants.permissions,
    told: state.record.told,
    now: services.runtime.clock.now(),
  });
  if (messages.length === 0) return;
  // Input that has arrived meanwhile has told the model what its client adds.
  await outbox.commitMade(() => {
    const patch = { told: withAdditional(told, state.record.told) };
    state.keep(patch);
    return { entries: modelEntries(id, messages, 'context'), patch };
  });
}
