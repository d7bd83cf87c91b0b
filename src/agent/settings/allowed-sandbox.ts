import type { Config } from '../../config/config.ts';
import { configuredSandboxPolicy } from '../../config/configured-sandbox-policy.ts';
import { allowedSandboxMode } from '../../config/requirements/requirements.ts';
import { isSandboxAsStrict } from '../../config/strictness/strictest-first.ts';
import { networkLimits } from '../../policy/network/network-limits.ts';
import { narrowerSandbox } from '../../policy/permissions/narrower-sandbox.ts';
import {
  managedNetworkRule,
  type NamedSandbox,
  unixSocketRule,
} from '../../policy/permissions/permission-profile.ts';
import { sandboxModeOf } from '../../policy/permissions/required/check-required.ts';
import type { SandboxPolicy } from '../../protocol/generated/types.ts';
import { furtherLimits } from './further-limits.ts';
import type { ThreadSandbox } from './thread-sandbox.ts';

/**
 * A sandbox in place of one that the administrator does not allow: the configured one, unless it is
 * looser, without all that the wanted one does not permit. Only the workspace is writable if the
 * wanted one is read-only, and that is not allowed.
 */
export function allowedSandbox(config: Config, wanted: ThreadSandbox): ThreadSandbox {
  const mode = sandboxModeOf(wanted.sandboxPolicy);
  const configured = config.get('sandbox_mode');
  const isAsStrict = isSandboxAsStrict(configured, mode);
  const policy = configuredSandboxPolicy(
    config,
    isAsStrict ? configured : allowedSandboxMode(mode, config.requirements),
  );
  const { workspaceRoots, hidden } = wanted;
  const sandbox = {
    sandboxPolicy: within(policy, wanted.sandboxPolicy),
    permissionProfile: null,
    workspaceRoots,
    ...(hidden && { hidden }),
  };
  // Nothing is limited where there is no sandbox.
  if (sandbox.sandboxPolicy.type === 'dangerFullAccess' || mode === 'danger-full-access')
    return sandbox;
  const [networkOf, unixSocketsOf] = [managedNetworkRule(config), unixSocketRule(config)];
  const limitsOf = (of: NamedSandbox) => ({
    networks: networkLimits(networkOf(of)),
    unixSockets: unixSocketsOf(of),
  });
  // Without the profile, what it limits is a limit of the sandbox.
  const limits = furtherLimits(limitsOf(wanted), limitsOf(sandbox));
  return limits === null ? sandbox : { ...sandbox, limits };
}

/** The policy without what `wanted` does not permit. It has the mode of `policy`. */
function within(policy: SandboxPolicy, wanted: SandboxPolicy): SandboxPolicy {
  if (policy.type === 'dangerFullAccess') return policy;
  if (policy.type !== 'workspaceWrite' || wanted.type !== 'readOnly')
    return narrowerSandbox(policy, wanted, []);
  const { access, networkAccess } = wanted;
  const workspace = {
    type: 'workspaceWrite' as const,
    writableRoots: [],
    excludeTmpdirEnvVar: true,
    excludeSlashTmp: true,
  };
  return narrowerSandbox(
    policy,
    {
      ...workspace,
      networkAccess: networkAccess === true,
      ...(access && { readOnlyAccess: access }),
    },
    [],
  );
}
