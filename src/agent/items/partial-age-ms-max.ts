/** How long, in milliseconds, an item may grow before its growth is stored: a killed server loses at most that much of it. */
export const PARTIAL_AGE_MS_MAX = 500;
