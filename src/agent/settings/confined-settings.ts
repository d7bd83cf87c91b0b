import { isDeepStrictEqual } from 'node:util';
import { isWithin } from '../../base/paths/is-within.ts';
import type { InheritedLimits } from '../../config/inherited-limits.ts';
import { AGENT_PLAN_MODE, isAgentPlanMode } from '../../instructions/collaboration-mode-text.ts';
import { stricterApprovals } from '../../policy/approvals/stricter-approvals.ts';
import { networkLimits } from '../../policy/network/network-limits.ts';
import { joinedPatterns, patternsFrom } from '../../policy/permissions/hidden-files.ts';
import { narrowerSandbox } from '../../policy/permissions/narrower-sandbox.ts';
import { hasBounds, isProtectedName } from '../../policy/permissions/sandbox-bounds.ts';
import type { CollaborationMode, SandboxPolicy } from '../../protocol/generated/types.ts';
import type { ThreadSettings } from '../../store/thread-record.ts';
import { furtherLimits, includesLimits } from './further-limits.ts';
import type { ThreadConfiguration } from './thread-configuration.ts';

type Confinement = Pick<
  ThreadSettings,
  'sandboxPolicy' | 'approvalPolicy' | 'approvalsReviewer' | 'cwd' | 'collaborationMode'
> &
  Pick<ThreadSettings, 'permissionProfile' | 'workspaceRoots' | 'limits' | 'hidden'>;

/**
 * The settings of a thread, and its configuration, which has the limits that the settings only
 * name.
 */
export interface ConfiguredSettings {
  settings: ThreadSettings;
  configuration: Pick<ThreadConfiguration, 'commands'>;
}

/**
 * The sandbox and the approvals of an agent: what both its own settings and `owner`, those of the
 * thread that it works for, allow. It works in its own folder, unless the sandbox would then allow
 * more than that of the thread does. It is in plan mode while the thread is.
 */
export function confinedSettings(
  agent: ConfiguredSettings,
  owner: ConfiguredSettings,
): Confinement {
  const { settings: own } = owner;
  const { permissionProfile = null, workspaceRoots = [] } = own;
  const sandboxPolicy = narrowerSandbox(agent.settings.sandboxPolicy, own.sandboxPolicy, [
    own.cwd,
    ...workspaceRoots,
  ]);
  const isNarrower = sandboxPolicy.type !== own.sandboxPolicy.type;
  const sandbox = {
    sandboxPolicy,
    cwd: mayWorkIn(agent.settings.cwd, { sandboxPolicy, own }) ? agent.settings.cwd : own.cwd,
    // A profile also decides about unix sockets and hosts, so the agent keeps that of the thread. A
    // built-in one only names a sandbox.
    permissionProfile:
      isNarrower && permissionProfile?.id.startsWith(':') ? null : permissionProfile,
  };
  const without = limitsOf({
    configuration: agent.configuration,
    settings: { ...agent.settings, ...sandbox, limits: null },
  });
  const limits = furtherLimits(joined(limitsOf(agent), limitsOf(owner)), without);
  return {
    ...sandbox,
    workspaceRoots,
    ...(limits === null ? noLimits(agent.settings) : { limits }),
    ...hiddenFrom(agent.settings, own),
    approvalPolicy: stricterApprovals(
      agent.settings.approvalPolicy,
      own.approvalPolicy,
      hasBounds(sandboxPolicy),
    ),
    approvalsReviewer: own.approvalsReviewer,
    collaborationMode: confinedMode(agent.settings.collaborationMode, own.collaborationMode),
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

/**
 * Files that are hidden from one of them are hidden from the agent, also where it works in another
 * folder.
 */
function hiddenFrom(
  { hidden }: ThreadSettings,
  own: ThreadSettings,
): Pick<ThreadSettings, 'hidden'> {
  const above = own.hidden ?? null;
  if (above === null) return hidden === undefined ? {} : { hidden };
  return { hidden: joinedPatterns(hidden ?? [], patternsFrom(above, own.cwd)) };
}

function noLimits({ limits }: ThreadSettings): Pick<ThreadSettings, 'limits'> {
  return limits === undefined ? {} : { limits: null };
}

/**
 * All limits of the network and of unix sockets. A sandbox that heddle does not confine has none.
 */
function limitsOf({ settings, configuration: { commands } }: ConfiguredSettings): InheritedLimits {
  const { type } = settings.sandboxPolicy;
  if (type !== 'readOnly' && type !== 'workspaceWrite')
    return settings.limits ?? { networks: [], unixSockets: true };
  return {
    networks: networkLimits(commands.network(settings)),
    unixSockets: commands.unixSockets(settings),
  };
}

function joined(one: InheritedLimits, other: InheritedLimits): InheritedLimits {
  const others = other.networks.filter((each) => !includesLimits(one.networks, each));
  return {
    networks: [...one.networks, ...others],
    unixSockets: one.unixSockets && other.unixSockets,
  };
}

function confinedMode(agent: CollaborationMode, own: CollaborationMode): CollaborationMode {
  const withInstructions = (
    mode: CollaborationMode['mode'],
    instructions: string | null,
  ): CollaborationMode => ({
    mode,
    settings: { ...agent.settings, developer_instructions: instructions },
  });
  if (own.mode === 'plan' && agent.mode !== 'plan')
    return withInstructions('plan', AGENT_PLAN_MODE);
  return own.mode !== 'plan' && isAgentPlanMode(agent) ? withInstructions('default', null) : agent;
}

/**
 * Whether a process in this folder may do no more than one of the thread: a sandbox opens the
 * folder that it works in.
 */
function mayWorkIn(
  cwd: string,
  { sandboxPolicy: policy, own }: { sandboxPolicy: SandboxPolicy; own: ThreadSettings },
): boolean {
  const workspace = [own.cwd, ...(own.workspaceRoots ?? [])];
  const writable = writableRoots(own.sandboxPolicy);
  const readable = readableRoots(own.sandboxPolicy);
  const isWritable = policy.type !== 'workspaceWrite' || isInside(cwd, writable, workspace);
  return isWritable && (readableRoots(policy) === null || isInside(cwd, readable, workspace));
}

/**
 * Whether the folder is in one of the roots, and not in a protected part of it. Null: every folder
 * is.
 */
function isInside(
  folder: string,
  roots: readonly string[] | null,
  workspace: readonly string[],
): boolean {
  const isOpen = (root: string) =>
    isWithin(folder, root) && !folder.slice(root.length).split('/').some(isProtectedName);
  return roots === null || [...workspace, ...roots].some(isOpen);
}

/** The folders beside the workspace that can be written. Null: all. */
function writableRoots(policy: SandboxPolicy): readonly string[] | null {
  if (policy.type === 'readOnly') return [];
  return policy.type === 'workspaceWrite' ? (policy.writableRoots ?? []) : null;
}

/** The folders beside the workspace that can be read. Null: all. */
function readableRoots(policy: SandboxPolicy): readonly string[] | null {
  if (policy.type === 'dangerFullAccess' || policy.type === 'externalSandbox') return null;
  const access = policy.type === 'readOnly' ? policy.access : policy.readOnlyAccess;
  return access?.type === 'restricted' ? (access.readableRoots ?? []) : null;
}
