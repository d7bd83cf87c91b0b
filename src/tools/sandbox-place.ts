import type { Env } from '../config/config.ts';
import type { SandboxPlace } from '../policy/sandbox-bounds.ts';
import { tempDirOf } from '../policy/temp-dir.ts';
import type { ThreadSettings } from '../store/store.ts';

/** Where what a thread's model calls for runs. `home` and `env` are the server's. */
export function sandboxPlace({ cwd, workspaceRoots = [] }: ThreadSettings, { home, env }: { home: string; env: Env }): SandboxPlace {
  return { cwd, workspaceRoots, tempDir: tempDirOf(env), home };
}
