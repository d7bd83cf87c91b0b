/** Messages of programs that a sandbox blocks. */
const REFUSALS =
  /operation not permitted|permission denied|read-only file ?system|not permitted by the sandbox|sandbox|network is unreachable|could not resolve host|name resolution/i;

/** Guesses from the output of a sandboxed command whether it failed because of the sandbox. */
export function looksRefused(exitCode: number, output: string | null): boolean {
  return exitCode !== 0 && output !== null && REFUSALS.test(output);
}
