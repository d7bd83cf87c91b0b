/** The exit codes of commands that the server killed. */
export const EXIT_CODE = {
  /** Killed after its time limit. `timeout` uses the same code. */
  timedOut: 124,
  /** Killed for another reason: 128 plus the number of SIGKILL. */
  killed: 137,
} as const;
