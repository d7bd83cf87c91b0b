import type { SandboxBounds } from '../policy/permissions/sandbox-bounds.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * The variables by which scripts find out whether they run in a sandbox, and whether it has no
 * network.
 */
const SANDBOX = 'CODEX_SANDBOX';
const NO_NETWORK = 'CODEX_SANDBOX_NETWORK_DISABLED';
/** Set by the sandbox itself, for a command that has a proxy. */
const PROXY_ACTIVE = 'CODEX_NETWORK_PROXY_ACTIVE';

/**
 * Returns the environment of a process with the variables that describe its sandbox. `confined` is
 * null for a process without one. They describe heddle's own sandbox: values that the environment
 * already has are removed.
 */
export async function sandboxEnvironment(
  {
    [SANDBOX]: _sandbox,
    [NO_NETWORK]: _network,
    [PROXY_ACTIVE]: _proxy,
    ...env
  }: Readonly<Record<string, string>>,
  confined: { sandbox: Sandbox; bounds: SandboxBounds } | null,
): Promise<Record<string, string>> {
  const means = await confined?.sandbox.available();
  if (confined === null || means === undefined || 'problem' in means) return env;
  return {
    ...env,
    [SANDBOX]: means.name,
    ...(hasNetwork(confined.bounds) ? {} : { [NO_NETWORK]: '1' }),
  };
}

function hasNetwork({ network, managedNetwork = false }: SandboxBounds): boolean {
  return network || managedNetwork;
}
