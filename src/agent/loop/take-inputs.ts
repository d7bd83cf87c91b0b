import type { Announcement } from '../../protocol/announcement.ts';
import { itemShown } from '../items/item-shown.ts';
import type { StepAddition } from '../outbox/step.ts';
import { previewPatch, threadPreview } from '../prompt/thread-preview.ts';
import type { Arrival } from '../turn/active-turn.ts';
import type { TurnEffects } from '../turn/turn-events.ts';
import { type ArrivedInput, inputEntries, modelEntries, storedInput } from '../turn/turn-input.ts';
import type { RunningTurn } from './running-turn.ts';

/**
 * Takes the input that has arrived: announces input that was stored before its request was
 * answered, makes deferred items visible to the model, and has withheld input checked. `refused`:
 * all input that has arrived was refused. `endsTurn`: a part ends the turn because of it.
 */
export async function takeInputs(run: RunningTurn): Promise<'refused' | 'taken' | 'endsTurn'> {
  const { turn } = run;
  const inputs = await turn.takeInputs();
  let refused = 0;
  for (const [index, input] of inputs.entries()) {
    const taken =
      input === 'deferred' || !input.isWithheld
        ? await announce(run, input)
        : await check(run, input);
    if (taken === 'endsTurn') {
      run.untaken.push(...inputs.slice(index + 1));
      return taken;
    }
    if (taken === 'refused') refused++;
  }
  return refused > 0 && refused === inputs.length ? 'refused' : 'taken';
}

/** Announces the input of a turn that ends. The model does not read what was not checked. */
export async function leaveInputs(run: RunningTurn): Promise<void> {
  const { thread, turn } = run;
  const inputs: Arrival[] = [...run.untaken.splice(0), ...(await turn.takeInputs())];
  for (const input of inputs) {
    if (input !== 'deferred' && input.isWithheld) {
      const { item, atMs } = input;
      const entry = {
        kind: 'item' as const,
        turnId: turn.id,
        item,
        startedAtMs: atMs,
        completedAtMs: atMs,
        partial: true,
      };
      await thread.outbox.commit({
        ...previewStep(run, input),
        entries: [entry],
        announce: announcements(run, input),
      });
    } else await announce(run, input);
  }
}

async function announce(run: RunningTurn, input: Arrival): Promise<'taken'> {
  const { thread, turn } = run;
  if (input === 'deferred')
    await thread.outbox.commit({ entries: [{ kind: 'deferredRead', turnId: turn.id }] });
  else await thread.outbox.commit({ announce: announcements(run, input) });
  return 'taken';
}

/**
 * Asks the parts whether the model reads this input. If the turn is interrupted meanwhile, the
 * input is left for its end.
 */
async function check(
  run: RunningTurn,
  input: ArrivedInput,
): Promise<'refused' | 'taken' | 'endsTurn'> {
  const { thread, turn } = run;
  const checked = turn.signal.aborted ? null : await thread.parts.emit('input', { input }, turn);
  const decision = decisionOf(checked);
  if (checked === null) run.untaken.push(input);
  else if (decision !== 'taken') {
    await thread.outbox.commit({
      dropped: [storedInput(turn.id, input)],
      entries: modelEntries(turn.id, checked.tell ?? [], 'server'),
    });
  } else {
    const { isWithheld: _, ...released } = input;
    const entries = [
      ...inputEntries(turn.id, released),
      ...modelEntries(turn.id, checked.tell ?? [], 'server'),
    ];
    await thread.outbox.commit({
      ...previewStep(run, input),
      entries,
      announce: announcements(run, input),
    });
  }
  return decision;
}

function decisionOf(checked: TurnEffects['input'] | null): 'refused' | 'taken' | 'endsTurn' {
  if (checked?.end === true) return 'endsTurn';
  return checked?.refuse === true ? 'refused' : 'taken';
}

function announcements(
  { thread, turn }: RunningTurn,
  { item, atMs }: ArrivedInput,
): Announcement[] {
  return itemShown(thread.id, { turnId: turn.id, item, atMs });
}

/** The step that stores the preview of this input, if the thread has none. It has it at once. */
function previewStep({ thread: { state } }: RunningTurn, { item }: ArrivedInput): StepAddition {
  if (item.type !== 'userMessage') return {};
  const patch = previewPatch(state.record, threadPreview(item.content));
  state.keep(patch);
  return { patch };
}
