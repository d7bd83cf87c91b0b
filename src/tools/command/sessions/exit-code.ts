/** The exit codes that commands have which did not end by themselves. */
export const EXIT_CODE = {
  /** It took longer than it may: the code that `timeout` uses. */
  timedOut: 124,
  /** It was killed: 128 and the number of SIGKILL. */
  killed: 137,
} as const;
