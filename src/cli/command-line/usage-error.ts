/**
 * The command line is wrong. The message is one line; `describeProblem` adds the help to read. The
 * exit code is 2.
 */
export class UsageError extends Error {}
