import type {
  ExternalAgentConfigImportItemTypeFailure,
  ExternalAgentConfigImportItemTypeSuccess,
  ExternalAgentConfigMigrationItemType,
  ExternalAgentConfigSession,
} from '../../protocol/generated/types.ts';
import type { Scope } from './scope.ts';

export type ItemType = ExternalAgentConfigMigrationItemType;

/** Something of another agent that heddle has taken. `cwd`: if it is not that of the item. */
export type Taken = Pick<
  ExternalAgentConfigImportItemTypeSuccess,
  'source' | 'target' | 'title'
> & { cwd?: string };

/** Something of another agent that heddle does not take, and why. */
export type Refused = Pick<
  ExternalAgentConfigImportItemTypeFailure,
  'source' | 'message' | 'failureStage'
>;

export interface Outcome {
  taken: Taken[];
  refused: Refused[];
}

/**
 * Another agent's settings of one type, without those that heddle has already in the same form.
 * Looking for them only reads.
 */
export interface Found {
  /** For people: what is taken from where to where. */
  description: string;
  /** The names of what can be taken. */
  names: string[];
  /** For sessions: what they are. Their names are their paths. */
  sessions?: ExternalAgentConfigSession[];
  refused: Refused[];
  /**
   * Takes what has these names. Never replaces anything of the user's. `originator`: the name of
   * the client.
   */
  take(names: readonly string[], originator: string | null): Promise<Outcome>;
}

/** The items that a client asks for. */
export interface AskedItems {
  /** Empty: everything. */
  names: readonly string[];
  /** The most sessions to find, and how old they may be. Null: not said. */
  sessionsMax: number | null;
  sessionDaysMax: number | null;
}

/** A type of settings that heddle can take from another agent. */
export interface Importer {
  itemType: ItemType;
  /**
   * The member of an item's details that has the names. Null: an item of this type is one thing.
   */
  details: 'skills' | 'mcpServers' | 'hooks' | 'sessions' | 'subagents' | 'commands' | null;
  /**
   * Resolves with null if there is nothing. Rejects with a SourceError if the source cannot be
   * read.
   */
  look(scope: Scope, asked: AskedItems): Promise<Found | null>;
}

/** A file of another agent cannot be used. The message names it. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
}

/** The place of something is not free. */
export class TakenError extends Error {
  override readonly name = 'TakenError';
}
