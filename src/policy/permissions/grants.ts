import type { GrantedPermissions } from './sandbox-bounds.ts';

/** Permissions as they were granted, with the real path that each path had then. */
interface Granted {
  permissions: GrantedPermissions;
  realPaths: ReadonlyMap<string, string>;
}

/** The approvals that users gave in a thread, for the session or for the current turn. Kept in memory only. */
export class Grants {
  readonly #resolveLinks: (path: string) => string;
  readonly #commands = new Set<string>();
  readonly #files = new Set<string>();
  #session: Granted[] = [];
  #turn: Granted[] = [];

  /** `resolveLinks` resolves the current symbolic links of a path. */
  constructor(resolveLinks: (path: string) => string = (path) => path) {
    this.#resolveLinks = resolveLinks;
  }

  /** Allows a command for the session. `key` identifies the command (`commandKey`). */
  allowCommand(key: string): void {
    this.#commands.add(key);
  }

  allowsCommand(key: string): boolean {
    return this.#commands.has(key);
  }

  /** Allows patches to change these files for the session. Absolute paths. */
  allowFiles(paths: readonly string[]): void {
    for (const path of paths) this.#files.add(path);
  }

  allowsFiles(paths: readonly string[]): boolean {
    return paths.every((path) => this.#files.has(path));
  }

  grant(permissions: GrantedPermissions, scope: 'turn' | 'session'): void {
    const realPaths = new Map([...permissions.read, ...permissions.write].map((path) => [path, this.#resolveLinks(path)]));
    (scope === 'session' ? this.#session : this.#turn).push({ permissions, realPaths });
  }

  /**
   * The permissions beyond the sandbox policy that hold in this turn. Leaves out a path whose real path has changed since the
   * grant, because a command may have put a link in its place.
   */
  get permissions(): readonly GrantedPermissions[] {
    return [...this.#session, ...this.#turn].map(({ permissions: { read, write, network }, realPaths }) => {
      const isAsGranted = (path: string) => this.#resolveLinks(path) === realPaths.get(path);
      return { read: read.filter(isAsGranted), write: write.filter(isAsGranted), network };
    });
  }

  endTurn(): void {
    this.#turn = [];
  }
}
