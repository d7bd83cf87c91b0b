import type { GrantedPermissions } from '../permissions/sandbox-bounds.ts';

interface KeyedCommand {
  argv: readonly string[];
  cwd: string;
  sandboxed: boolean;
  /** What it may do beyond the sandbox's bounds. */
  permissions?: GrantedPermissions | null;
}

/** Tells a command from every other that a session's grant could be about: its words, its folder, and how it runs. */
export function commandKey({ argv, cwd, sandboxed, permissions = null }: KeyedCommand): string {
  return JSON.stringify([sandboxed, permissions, cwd, ...argv]);
}
