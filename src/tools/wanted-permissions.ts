import type { JsonValue } from '../base/json-value.ts';
import { resolveLinks } from '../base/paths/follow-path.ts';
import { protectedWrite, readPermissions } from '../policy/permissions/read-permissions.ts';
import type { GrantedPermissions } from '../policy/permissions/sandbox-bounds.ts';
import { shownPath } from './shown-path.ts';

export interface PermissionPaths {
  cwd: string;
  /** The server's home. No permission makes it writable. */
  home: string;
  /** The folder that `~/` stands for. Null: `~` is an ordinary name. */
  userHome: string | null;
}

/**
 * Returns the permissions that the model asks for, with links resolved. Returns a string for the
 * model if the value is invalid. The string continues a sentence after the tool's name, such as
 * "needs …" or "cannot …".
 */
export function wantedPermissions(
  value: JsonValue | undefined,
  { cwd, home, userHome }: PermissionPaths,
): GrantedPermissions | string {
  const named = readPermissions(value, { cwd, userHome });
  if (typeof named === 'string') return named;
  const wanted = realPermissions(named, cwd);
  return (
    wanted.write
      .map((path) => protectedWrite(resolveLinks(path), resolveLinks(home)))
      .find((problem) => problem !== null) ?? wanted
  );
}

/**
 * Leaves out the paths that no permission can make writable. An answer may name one below a path
 * that was asked for.
 */
export function unprotected(
  { write, ...rest }: GrantedPermissions,
  home: string,
): GrantedPermissions {
  return {
    ...rest,
    write: write.filter((path) => protectedWrite(resolveLinks(path), resolveLinks(home)) === null),
  };
}

/** Resolves the links in the paths. */
export function realPermissions(
  { read, write, network }: GrantedPermissions,
  cwd: string,
): GrantedPermissions {
  const real = (paths: readonly string[]) => [
    ...new Set(paths.map((path) => shownPath(path, cwd))),
  ];
  return { read: real(read), write: real(write), network };
}
