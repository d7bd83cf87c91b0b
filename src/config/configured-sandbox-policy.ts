import type { SandboxMode, SandboxPolicy } from '../protocol/generated/types.ts';
import type { Config } from './config.ts';

/**
 * Returns the sandbox policy for a mode, with the configured roots and network access. The default
 * mode is the configured one.
 */
export function configuredSandboxPolicy(
  config: Config,
  mode: SandboxMode = config.get('sandbox_mode'),
): SandboxPolicy {
  switch (mode) {
    case 'read-only':
      return { type: 'readOnly', networkAccess: false };
    case 'workspace-write':
      return {
        type: 'workspaceWrite',
        writableRoots: config.get('sandbox_workspace_write.writable_roots'),
        networkAccess: config.get('sandbox_workspace_write.network_access'),
        excludeTmpdirEnvVar: config.get('sandbox_workspace_write.exclude_tmpdir_env_var'),
        excludeSlashTmp: config.get('sandbox_workspace_write.exclude_slash_tmp'),
      };
    case 'danger-full-access':
      return { type: 'dangerFullAccess' };
    default:
      return mode satisfies never;
  }
}
