import type { OptionValues } from '../command-line/read-options.ts';

/** A session on the wire. Paths are as in the command line. */
export interface WireOptions {
  /** The new file that gets the lines that are sent. Null: none. */
  save: string | null;
  /** The file whose lines are sent before those of stdin. Null: none. */
  replay: string | null;
  /** Whether a terminal shows long messages in full. */
  whole: boolean;
}

/** Returns the session that the options of `wire` ask for. */
export function wireOptions({ save, replay, whole }: OptionValues): WireOptions {
  return { save: save ?? null, replay: replay ?? null, whole: whole ?? false };
}
