/** The command line is wrong. The message is one line. The exit code is 2. */
export class UsageError extends Error {
  /** The command line that prints the help about it. */
  help = 'heddle --help';
}
