import type { GrantedPermissions } from '../permissions/sandbox-bounds.ts';

interface KeyedCommand {
  argv: readonly string[];
  cwd: string;
  sandboxed: boolean;
  /** The permissions beyond the bounds of the sandbox. */
  permissions?: GrantedPermissions | null;
}

/** Returns a key that identifies a command for session grants: its words, its working directory, and how it runs. */
export function commandKey({ argv, cwd, sandboxed, permissions = null }: KeyedCommand): string {
  return JSON.stringify([sandboxed, permissions, cwd, ...argv]);
}
