import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import type { Sandbox } from './sandbox.ts';

/** The variables by which scripts find out whether they run in a sandbox, and whether it has no network. */
const SANDBOX = 'CODEX_SANDBOX';
const NO_NETWORK = 'CODEX_SANDBOX_NETWORK_DISABLED';

interface MarkedSandbox {
  sandbox: Sandbox;
  bounds: Pick<SandboxBounds, 'network'>;
}

/**
 * Returns the environment of a process with the markers of its sandbox. If `marked` is null, the process has none. The markers are
 * about heddle's own sandbox: values that the environment has for another reason are removed.
 */
export async function withSandboxMarkers(
  { [SANDBOX]: _sandbox, [NO_NETWORK]: _network, ...env }: Readonly<Record<string, string>>,
  marked: MarkedSandbox | null,
): Promise<Record<string, string>> {
  const means = await marked?.sandbox.available();
  if (marked === null || means === undefined || 'problem' in means) return env;
  return { ...env, [SANDBOX]: means.name, ...(marked.bounds.network ? {} : { [NO_NETWORK]: '1' }) };
}
