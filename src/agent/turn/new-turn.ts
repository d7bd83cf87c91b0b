import type { JsonValue } from '../../base/json-value.ts';
import type { Config } from '../../config/config.ts';
import type { TurnStartParams } from '../../protocol/generated/types.ts';
import type { ThreadPatch, ThreadRecord, ThreadSettings } from '../../store/thread-record.ts';
import { askedTier } from '../settings/resolve-settings.ts';
import { ActiveTurn } from './active-turn.ts';
import type { TakenInput } from './due-input.ts';
import type { InputAuthor } from './turn-input.ts';
import type { TurnOpening } from './turn-opening.ts';
import type { DueTurn } from './turn-part.ts';

/** A turn that is to begin. */
export interface NewTurn {
  /** The request. Absent: without input. */
  params?: TurnStartParams;
  author?: InputAuthor;
  /** The step that is stored and announced with its start. Absent: none. */
  step?: TakenInput['step'];
  /** By default those of the thread. */
  settings?: ThreadSettings;
  /** For a turn that a part wants; null: a client asked for it. */
  due?: DueTurn | null;
  /** Work before the model is asked, for a user command. */
  opening?: TurnOpening | null;
  /** The command that the opening runs. */
  command?: string | null;
}

/** When a turn began, and its ids. */
type TurnStart = Pick<ActiveTurn, 'id' | 'startedAtMs' | 'startedMs'> & { rootTurnId?: string };

/** The running turn of a new turn, without its input. Its start may not be stored yet. */
export function newActiveTurn(
  {
    params,
    settings,
    due = null,
    opening = null,
  }: NewTurn & { params: TurnStartParams; settings: ThreadSettings },
  start: TurnStart,
  config: Config,
): ActiveTurn {
  const turn = new ActiveTurn({
    ...start,
    kind: due?.kind ?? (opening === null ? 'user' : 'shell'),
    settings: settingsOfTurn(settings, params, config),
    outputSchema: (params.outputSchema ?? null) as JsonValue,
  });
  turn.clientMetadata = params.responsesapiClientMetadata ?? {};
  turn.isOpening = (due?.opening ?? opening) !== null;
  return turn;
}

/**
 * The settings of a turn that begins with this request: those of the thread, and the tier for this
 * turn only.
 */
export function settingsOfTurn(
  settings: ThreadSettings,
  { serviceTierForTurn }: TurnStartParams,
  config: Config,
): ThreadSettings {
  return serviceTierForTurn
    ? { ...settings, serviceTier: askedTier(config, serviceTierForTurn) }
    : settings;
}

/** The patch for what the model is told; empty if that is what it was told last. */
export function toldChange(
  before: Pick<ThreadRecord, 'told'>,
  told: ThreadRecord['told'],
): ThreadPatch {
  return told === before.told ? {} : { told };
}
