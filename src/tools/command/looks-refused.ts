/** What programs say when a sandbox keeps them from something. */
const REFUSALS =
  /operation not permitted|permission denied|read-only file ?system|not permitted by the sandbox|sandbox|network is unreachable|could not resolve host|name resolution/i;

/** Whether a command that ran in a sandbox seems to have failed because of it. A guess: programs do not say. */
export function looksRefused(exitCode: number, output: string | null): boolean {
  return exitCode !== 0 && output !== null && REFUSALS.test(output);
}
