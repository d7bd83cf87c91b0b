import { isDeepStrictEqual } from 'node:util';
import type { InheritedLimits } from '../../config/inherited-limits.ts';
import { networkLimits } from '../../policy/network/network-limits.ts';
import { narrowerSandbox } from '../../policy/permissions/narrower-sandbox.ts';
import { stricterApprovals } from '../../policy/permissions/stricter-approvals.ts';
import type { ThreadSettings } from '../../store/thread-store.ts';
import type { ThreadConfiguration } from './thread-configuration.ts';

type Confinement = Pick<ThreadSettings, 'sandboxPolicy' | 'approvalPolicy' | 'approvalsReviewer'> &
  Pick<ThreadSettings, 'permissionProfile' | 'workspaceRoots' | 'limits'>;

/** The settings of a thread, and its configuration, which has the limits that the settings only name. */
export interface ConfiguredSettings {
  settings: ThreadSettings;
  configuration: Pick<ThreadConfiguration, 'commands'>;
}

/** The sandbox and the approvals of an agent: what both its own settings and `owner`, those of the thread that it works for, allow. */
export function confinedSettings(agent: ConfiguredSettings, owner: ConfiguredSettings): Confinement {
  const { settings: own } = owner;
  const { permissionProfile = null, workspaceRoots = [] } = own;
  const sandboxPolicy = narrowerSandbox(agent.settings.sandboxPolicy, own.sandboxPolicy, [own.cwd, ...workspaceRoots]);
  const sandbox = {
    sandboxPolicy,
    // Paths of the profile are in the policy already. Its other limits are those of the thread, or in `limits`.
    permissionProfile: sandboxPolicy.type === own.sandboxPolicy.type ? permissionProfile : null,
  };
  const { networks, unixSockets } = joined(limitsOf(agent), limitsOf(owner));
  const without = limitsOf({ configuration: agent.configuration, settings: { ...agent.settings, ...sandbox, limits: null } });
  const more = networks.filter((each) => !includes(without.networks, each));
  return {
    ...sandbox,
    workspaceRoots,
    ...(more.length > 0 || (without.unixSockets && !unixSockets) ? { limits: { networks: more, unixSockets } } : noLimits(agent.settings)),
    approvalPolicy: stricterApprovals(agent.settings.approvalPolicy, own.approvalPolicy),
    approvalsReviewer: own.approvalsReviewer,
  };
}

/** The settings of an agent with this confinement: the same object if they have it already. */
export function confined(agent: ConfiguredSettings, owner: ConfiguredSettings): ThreadSettings {
  const settings = { ...agent.settings, ...confinedSettings(agent, owner) };
  return isDeepStrictEqual(settings, agent.settings) ? agent.settings : settings;
}

/** A thread as its running turn is configured, or its next one. */
export function inTurn({
  turn,
  settings,
  configuration,
}: ConfiguredSettings & { turn: { settings: ThreadSettings } | null }): ConfiguredSettings {
  return { settings: turn?.settings ?? settings, configuration };
}

function noLimits({ limits }: ThreadSettings): Pick<ThreadSettings, 'limits'> {
  return limits === undefined ? {} : { limits: null };
}

/** All limits of the network and of unix sockets. A sandbox that heddle does not confine has none. */
function limitsOf({ settings, configuration: { commands } }: ConfiguredSettings): InheritedLimits {
  const { type } = settings.sandboxPolicy;
  if (type !== 'readOnly' && type !== 'workspaceWrite') return settings.limits ?? { networks: [], unixSockets: true };
  return { networks: networkLimits(commands.network(settings)), unixSockets: commands.unixSockets(settings) };
}

function joined(one: InheritedLimits, other: InheritedLimits): InheritedLimits {
  const others = other.networks.filter((each) => !includes(one.networks, each));
  return { networks: [...one.networks, ...others], unixSockets: one.unixSockets && other.unixSockets };
}

function includes(networks: InheritedLimits['networks'], network: InheritedLimits['networks'][number]): boolean {
  return networks.some((each) => isDeepStrictEqual(each, network));
}
