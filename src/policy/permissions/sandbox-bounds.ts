import type { SandboxPolicy } from '../../protocol/generated/types.ts';

/** Read-only wherever they lie below a writable root, at any depth, and nobody may make them there. */
export const PROTECTED_NAMES = ['.git', '.codex', '.agents'] as const;

/** Whether it is one of the protected names. */
export function isProtectedName(name: string): boolean {
  return PROTECTED_NAMES.some((one) => one === name);
}

/** What a confined process may do. All paths are absolute, as they were named: links in them are not resolved. */
export interface SandboxBounds {
  /** What can be read: everything, or these roots, with or without what programs commonly need. */
  readable: 'everything' | { roots: readonly string[]; platformDefaults: boolean };
  /** What can be written, but for what is protected in it. */
  writableRoots: readonly string[];
  network: boolean;
  /** The folders that the work is in: they can be read, also where they lie in the home. */
  workspace: readonly string[];
  /** heddle's home: never writable but for a writable root that lies inside it; what is secret in it is not readable. */
  home: string;
}

/** What has been granted beyond the sandbox policy. Absolute paths. */
export interface GrantedPermissions {
  read: readonly string[];
  write: readonly string[];
  network: boolean;
}

/** Where a process runs, as far as its bounds depend on it. */
export interface SandboxFolders {
  cwd: string;
  /** Further folders of the workspace. */
  workspaceRoots?: readonly string[];
  /** What $TMPDIR names; null where that is no folder by its whole path. */
  tempDir: string | null;
  home: string;
}

/** Whether a policy has any bounds that heddle keeps. */
export function hasBounds({ type }: SandboxPolicy): boolean {
  return type !== 'dangerFullAccess' && type !== 'externalSandbox';
}

/** The bounds that a policy means in a place, with what was granted beyond them. Null: no bounds. */
export function sandboxBounds(
  policy: SandboxPolicy,
  { cwd, workspaceRoots = [], tempDir, home }: SandboxFolders,
  granted: readonly GrantedPermissions[] = [],
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
  const network = policy.networkAccess === true || granted.some((grant) => grant.network);
  if (policy.type === 'readOnly') return { readable, writableRoots: grantedWrite, network, workspace, home };
  const writableRoots = [...workspace, ...(policy.writableRoots ?? [])];
  if (policy.excludeSlashTmp !== true) writableRoots.push('/tmp');
  if (policy.excludeTmpdirEnvVar !== true && tempDir !== null) writableRoots.push(tempDir);
  return { readable, writableRoots: [...new Set([...writableRoots, ...grantedWrite])], network, workspace, home };
}
