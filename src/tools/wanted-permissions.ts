import { resolveLinks } from '../base/follow-path.ts';
import type { JsonValue } from '../base/json-value.ts';
import { protectedWrite, readPermissions } from '../policy/permissions/read-permissions.ts';
import type { GrantedPermissions } from '../policy/permissions/sandbox-bounds.ts';
import { shownPath } from './shown-path.ts';

export interface PermissionPaths {
  cwd: string;
  /** The server's home, which no permission opens. */
  home: string;
  /** What `~` means; null: nothing. */
  userHome: string | null;
}

/**
 * The permissions that the model asks for, links followed. A text says to the model what is wrong with what it asks for, and
 * goes on from the tool's name: "needs …", "cannot …".
 */
export function wantedPermissions(value: JsonValue | undefined, { cwd, home, userHome }: PermissionPaths): GrantedPermissions | string {
  const named = readPermissions(value, { cwd, userHome });
  if (typeof named === 'string') return named;
  const wanted = realPermissions(named, cwd);
  return wanted.write.map((path) => protectedWrite(resolveLinks(path), resolveLinks(home))).find((problem) => problem !== null) ?? wanted;
}

/** The same without what no permission makes writable, which may lie in what was asked for. */
export function unprotected({ write, ...rest }: GrantedPermissions, home: string): GrantedPermissions {
  return { ...rest, write: write.filter((path) => protectedWrite(resolveLinks(path), resolveLinks(home)) === null) };
}

/** The same with its links followed. */
export function realPermissions({ read, write, network }: GrantedPermissions, cwd: string): GrantedPermissions {
  const real = (paths: readonly string[]) => [...new Set(paths.map((path) => shownPath(path, cwd)))];
  return { read: real(read), write: real(write), network };
}
