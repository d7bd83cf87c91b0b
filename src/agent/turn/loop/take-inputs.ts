import type { Announcement } from '../../../protocol/announcement.ts';
import { itemShown } from '../../items/item-shown.ts';
import type { Arrival } from '../active-turn.ts';
import { inputEntries, modelEntries, storedInput } from '../turn-input.ts';
import type { ArrivedInput } from '../turn-part.ts';
import type { RunningTurn } from './turn-deps.ts';

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
  const { deps, turn } = run;
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
      await deps.outbox.commit({
        ...deps.previewStep(input),
        entries: [entry],
        announce: announcements(run, input),
      });
    } else await announce(run, input);
  }
}

async function announce(run: RunningTurn, input: Arrival): Promise<'taken'> {
  const { deps, turn } = run;
  if (input === 'deferred')
    await deps.outbox.commit({ entries: [{ kind: 'deferredRead', turnId: turn.id }] });
  else await deps.outbox.commit({ announce: announcements(run, input) });
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
  const { deps, turn } = run;
  const checked = turn.signal.aborted ? null : await deps.parts.checkInput(input, turn);
  if (checked === null) run.untaken.push(input);
  else if (checked.decision !== 'taken') {
    await deps.outbox.commit({
      dropped: [storedInput(turn.id, input)],
      entries: modelEntries(turn.id, checked.tell, 'server'),
    });
  } else {
    const { isWithheld: _, ...released } = input;
    const entries = [
      ...inputEntries(turn.id, released),
      ...modelEntries(turn.id, checked.tell, 'server'),
    ];
    await deps.outbox.commit({
      ...deps.previewStep(input),
      entries,
      announce: announcements(run, input),
    });
  }
  return checked?.decision ?? 'taken';
}

function announcements({ deps, turn }: RunningTurn, { item, atMs }: ArrivedInput): Announcement[] {
  return itemShown(deps.threadId, { turnId: turn.id, item, atMs });
}
