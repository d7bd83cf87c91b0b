/** The command line is wrong. The message is one line. The exit code is 2. */
export class UsageError extends Error {
  /** `help`: the command line that prints the help about it. */
  constructor(
    message: string,
    public help = 'heddle --help',
  ) {
    super(message);
  }
}
