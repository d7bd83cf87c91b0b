/** How long, in milliseconds, an item may grow before it is stored. A killed server loses at most this much of it. */
export const SAVE_INTERVAL_MS = 500;
