import type { PathIdentity } from '../../base/paths/path-identity.ts';
import type { GrantedPermissions } from './sandbox-bounds.ts';

/** Granted permissions, with the identity of each path at that time. */
interface Granted {
  permissions: GrantedPermissions;
  identities: ReadonlyMap<string, PathIdentity>;
}

/**
 * The approvals that users gave in a thread, for the session or for the current turn. Kept in
 * memory only.
 */
export class SessionGrants {
  readonly #identify: (path: string) => PathIdentity;
  readonly #commands = new Set<string>();
  readonly #files = new Set<string>();
  readonly #targets = new Set<string>();
  readonly #mcpTools = new Set<string>();
  #session: Granted[] = [];
  #turn: Granted[] = [];
  #reviewsAll = false;

  /** `identify` returns the current identity of a path. */
  constructor(identify: (path: string) => PathIdentity = (path) => ({ real: path, folder: null })) {
    this.#identify = identify;
  }

  /** Allows a command for the session. `key` identifies the command (`commandKey`). */
  allowCommand(key: string): void {
    this.#commands.add(key);
  }

  allowsCommand(key: string): boolean {
    return this.#commands.has(key);
  }

  /** Allows patches to change these files for the session (`grantedPaths`). */
  allowFiles(paths: readonly string[]): void {
    for (const path of paths) this.#files.add(path);
  }

  allowsFiles(paths: readonly string[]): boolean {
    return paths.every((path) => this.#files.has(path));
  }

  /** Allows commands to reach a target for the session (`targetUrl`). */
  allowTarget(url: string): void {
    this.#targets.add(url);
  }

  allowsTarget(url: string): boolean {
    return this.#targets.has(url);
  }

  /**
   * Allows calls of a tool of an MCP server for the session. `key` identifies the server and the
   * definition of the tool (`toolKey`).
   */
  allowMcpTool(key: string): void {
    this.#mcpTools.add(key);
  }

  allowsMcpTool(key: string): boolean {
    return this.#mcpTools.has(key);
  }

  grant(permissions: GrantedPermissions, scope: 'turn' | 'session'): void {
    const identities = new Map(
      [...permissions.read, ...permissions.write].map((path) => [path, this.#identify(path)]),
    );
    (scope === 'session' ? this.#session : this.#turn).push({ permissions, identities });
  }

  /**
   * The permissions beyond the sandbox policy that hold in this turn. Leaves out a path whose real
   * path has changed since the grant, and a folder that another one has replaced, because a command
   * may have done that.
   */
  get permissions(): readonly GrantedPermissions[] {
    return [...this.#session, ...this.#turn].map(
      ({ permissions: { read, write, network }, identities }) => {
        const isAsGranted = (path: string) => isSame(identities.get(path), this.#identify(path));
        return { read: read.filter(isAsGranted), write: write.filter(isAsGranted), network };
      },
    );
  }

  /** From now on until the turn ends, the guardian reviews every command and every patch. */
  requireReviews(): void {
    this.#reviewsAll = true;
  }

  get reviewsAll(): boolean {
    return this.#reviewsAll;
  }

  endTurn(): void {
    this.#turn = [];
    this.#reviewsAll = false;
  }
}

/** A folder that did not exist when it was granted may be created later. */
function isSame(granted: PathIdentity | undefined, now: PathIdentity): boolean {
  return granted?.real === now.real && (granted.folder === null || granted.folder === now.folder);
}
