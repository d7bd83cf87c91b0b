import type { HiddenPattern } from '../../config/inherited-limits.ts';
import type { SandboxPolicy } from '../../protocol/generated/types.ts';
import { type HiddenFiles, hiddenFiles } from './hidden-files.ts';

/** Read-only below a writable root, at any depth. They cannot be created there either. */
export const PROTECTED_NAMES = ['.git', '.hg', '.codex', '.agents'] as const;

/** Whether the name is protected, in exactly this case. */
export function isProtectedName(name: string): boolean {
  return PROTECTED_NAMES.some((one) => one === name);
}

/**
 * The limits of a confined process. All paths are absolute. Unless a function says otherwise, links
 * in them are not resolved.
 */
export interface SandboxBounds {
  /** Everything, or these roots. `platformDefaults` adds the files that programs commonly need. */
  readable: 'everything' | { roots: readonly string[]; platformDefaults: boolean };
  /** The files and folders that can be written, except protected names in them. */
  writableRoots: readonly string[];
  /** Whether the process can use the whole network, without a proxy. */
  network: boolean;
  /**
   * Whether it reaches the network through a proxy of its own, which decides about each host. Only
   * without `network`.
   */
  managedNetwork?: boolean;
  /**
   * The names of the loopback that lead through that proxy to this machine's. Default: none, they
   * lead to the process's own.
   */
  hostLoopback?: readonly string[];
  /** Whether the process can use the unix sockets of other programs. Independent of `network`. */
  unixSockets: boolean;
  /** The folders of the workspace. They can be read even if they are in the home. */
  workspace: readonly string[];
  /** Folders in which nested protected names are not looked for. */
  unprotected: readonly string[];
  /** heddle's home. Only writable roots inside it can be written. Its secrets cannot be read. */
  home: string;
  /**
   * The real paths of secrets of the home that are links out of it. They cannot be read or written.
   * `realBounds` finds them.
   */
  linkedSecrets?: readonly string[];
  /** Files that can be neither read nor written, whatever the roots are. Default: none. */
  hidden?: readonly HiddenFiles[];
  /**
   * The names of further files of the home that cannot be created, read or written: those of
   * profiles. Default: none.
   */
  profileFiles?: readonly string[];
}

/** Permissions granted beyond the sandbox policy. Absolute paths. */
export interface GrantedPermissions {
  read: readonly string[];
  write: readonly string[];
  network: boolean;
}

/** The folders that the bounds of a process depend on. */
export interface SandboxFolders {
  cwd: string;
  /** Further folders of the workspace. */
  workspaceRoots?: readonly string[];
  /** The folder that $TMPDIR names. Null if it is not an absolute path. */
  tempDir: string | null;
  home: string;
  /**
   * The files that the thread's permission profile or the administrator hides. Absent or null:
   * none.
   */
  hidden?: readonly HiddenPattern[] | null | undefined;
}

/** Permissions of a process beyond its sandbox policy, and exceptions from its protections. */
export interface BoundsOptions {
  granted?: readonly GrantedPermissions[];
  /** Whether the user's configuration allows unix sockets. Read-only policies never allow them. */
  unixSockets?: boolean;
  /** Whether the configuration manages the network: who has it, has it only through a proxy. */
  managesNetwork?: boolean;
  /** The names of the loopback that then lead to this machine's. Default: none. */
  hostLoopback?: readonly string[];
  /** The folders below which the user has left protected names unprotected. */
  unprotected?: readonly string[];
  /** The names of the files of profiles in the home. */
  profileFiles?: readonly string[];
}

/** Whether heddle has to confine commands under this policy. */
export function hasBounds({ type }: SandboxPolicy): boolean {
  return type !== 'dangerFullAccess' && type !== 'externalSandbox';
}

/**
 * Returns the bounds of a policy for these folders, plus what the options allow. Returns null if
 * the policy has no bounds.
 */
export function sandboxBounds(
  policy: SandboxPolicy,
  { cwd, workspaceRoots = [], tempDir, home, hidden }: SandboxFolders,
  {
    granted = [],
    unixSockets = false,
    managesNetwork = false,
    hostLoopback = [],
    unprotected = [],
    profileFiles = [],
  }: BoundsOptions = {},
): SandboxBounds | null {
  if (policy.type === 'dangerFullAccess' || policy.type === 'externalSandbox') return null;
  const workspace = [cwd, ...workspaceRoots];
  const grantedWrite = granted.flatMap(({ write }) => write);
  const grantedRead = granted.flatMap(({ read }) => read);
  const access = policy.type === 'readOnly' ? policy.access : policy.readOnlyAccess;
  const readable: SandboxBounds['readable'] =
    access?.type === 'restricted'
      ? {
          roots: [...workspace, ...(access.readableRoots ?? []), ...grantedRead],
          platformDefaults: access.includePlatformDefaults !== false,
        }
      : 'everything';
  const hasNetwork = policy.networkAccess === true || granted.some((grant) => grant.network);
  const network = managesNetwork
    ? { network: false, managedNetwork: hasNetwork, hostLoopback }
    : { network: hasNetwork };
  const hides = hidden ? { hidden: hiddenFiles(hidden, workspace) } : {};
  const bounds = { readable, ...network, unprotected, workspace, home, profileFiles, ...hides };
  if (policy.type === 'readOnly')
    return { ...bounds, writableRoots: grantedWrite, unixSockets: false };
  const writableRoots = [...workspace, ...(policy.writableRoots ?? [])];
  if (policy.excludeSlashTmp !== true) writableRoots.push('/tmp');
  if (policy.excludeTmpdirEnvVar !== true && tempDir !== null) writableRoots.push(tempDir);
  return {
    ...bounds,
    writableRoots: [...new Set([...writableRoots, ...grantedWrite])],
    unixSockets,
  };
}
