/** Of a command that took longer than it may, as `timeout` gives it. */
export const TIMED_OUT = 124;
/** Of one that was killed: 128 and the number of SIGKILL. */
export const KILLED = 137;
