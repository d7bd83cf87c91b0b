/** A line of a session cannot be sent. The message is for the person who wrote it. */
export class LineError extends Error {}
