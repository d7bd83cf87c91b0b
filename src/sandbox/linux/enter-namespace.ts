import { existsSync } from 'node:fs';
import { readProcLink } from '../../base/files/read-proc.ts';
import { runToEnd } from '../../base/processes/spawn-program.ts';
import { proxyUnavailable } from '../proxy-unavailable.ts';

/** Handles of a network namespace, and of the user namespace that owns it. They keep it alive. */
export interface NamespaceHandles {
  net: number;
  user: number;
}

const NSENTER_PLACES = ['/usr/bin/nsenter', '/bin/nsenter', '/run/current-system/sw/bin/nsenter'];
const CHECK_MS_MAX = 10_000;

/**
 * Returns the arguments to put before a program so that it runs in a namespace. The program keeps
 * the process id. Throws a `SandboxUnavailableError` if that is not possible. `nsenter` replaces
 * the installed program.
 */
export function enterNamespace(
  { user, net }: NamespaceHandles,
  nsenter = installedNsenter(),
): string[] {
  if (nsenter === undefined) throw proxyUnavailable(NO_NSENTER);
  const own = `/proc/${readProcLink('/proc/self')}/fd`;
  return [nsenter, '--preserve-credentials', `--user=${own}/${user}`, `--net=${own}/${net}`, '--'];
}

/**
 * Enters a namespace. Rejects with a `SandboxUnavailableError` if the system refuses it, which a
 * command could not tell from its own errors.
 */
export async function checkEntry(namespace: NamespaceHandles, nsenter?: string): Promise<void> {
  const [program = '', ...args] = enterNamespace(namespace, nsenter);
  try {
    await runToEnd(program, [...args, 'true'], {
      env: { PATH: '/usr/bin:/bin' },
      timeout: CHECK_MS_MAX,
    });
  } catch (error) {
    const problem = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw proxyUnavailable(
      `a network namespace cannot be entered (${problem === '' ? String(error) : problem})`,
      error,
    );
  }
}

function installedNsenter(): string | undefined {
  return NSENTER_PLACES.find((path) => existsSync(path));
}

const NO_NSENTER =
  'the program nsenter is missing. Install util-linux (`apt-get install util-linux`)';
