/** How long closing the server may take before its process exits anyway. */
export const CLOSE_MS_MAX = 5_000;

/** The part of that time in which programs of the user may run at the ends of turns and threads. The rest is for the server itself. */
export const LAST_PROGRAMS_MS_MAX = CLOSE_MS_MAX / 2;
