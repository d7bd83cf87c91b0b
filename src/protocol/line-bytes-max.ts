/**
 * The maximum length of a message of a client. A longer one is dropped, and no more than this much
 * of it is kept in memory.
 */
export const LINE_BYTES_MAX = 32 * 1024 * 1024;
