import type { Env } from '../base/env.ts';
import type { SandboxFolders } from '../policy/permissions/sandbox-bounds.ts';
import { tempDirOf } from '../policy/permissions/temp-dir-of.ts';
import type { ThreadSettings } from '../store/thread-record.ts';

/** The folders of a thread's sandbox. `home` and `env` are the server's. */
export function sandboxFolders(
  { cwd, workspaceRoots = [], hidden }: Pick<ThreadSettings, 'cwd' | 'workspaceRoots' | 'hidden'>,
  { home, env }: { home: string; env: Env },
): SandboxFolders {
  return { cwd, workspaceRoots, tempDir: tempDirOf(env), home, hidden };
}
