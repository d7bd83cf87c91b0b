import type { GrantedPermissions } from '../permissions/sandbox-bounds.ts';

interface KeyedCommand {
  argv: readonly string[];
  cwd: string;
  sandboxed: boolean;
  /** The permissions beyond the bounds of the sandbox. */
  permissions?: GrantedPermissions | null;
  /**
   * The state of the places that the command depends on, by path. Counts only beyond the bounds of
   * the sandbox, which limit it otherwise.
   */
  identity?: ReadonlyMap<string, string>;
}

/**
 * Returns a key that identifies a command for session grants: its words, its working directory, how
 * it runs, and beyond the bounds of the sandbox also the files that it names. So the grant ends if
 * one of them is no longer the approved file.
 */
export function commandKey({
  argv,
  cwd,
  sandboxed,
  permissions = null,
  identity = new Map(),
}: KeyedCommand): string {
  const states =
    sandboxed && permissions === null
      ? []
      : [...identity].sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([sandboxed, permissions, states, cwd, ...argv]);
}
