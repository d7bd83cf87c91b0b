/** The longest message that a server may send: a line, the body of a response, or an event. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** The most objects and arrays of a message. More of them need too much memory, and all servers share it. */
export const MESSAGE_PARTS_MAX = 1_000_000;
