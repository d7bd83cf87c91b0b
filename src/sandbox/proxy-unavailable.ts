import { SandboxUnavailableError } from './processes/processes.ts';

/**
 * The error for a command whose proxy cannot be reached. It does not run. `problem` begins in lower
 * case and has no full stop.
 */
export function proxyUnavailable(problem: string, cause?: unknown): SandboxUnavailableError {
  return new SandboxUnavailableError(
    `Commands cannot use the network through heddle's proxy: ${problem}.`,
    { cause },
  );
}
