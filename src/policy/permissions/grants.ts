import type { GrantedPermissions } from './sandbox-bounds.ts';

/** Permissions as they were granted, with where each path led then. */
interface Granted {
  permissions: GrantedPermissions;
  realPaths: ReadonlyMap<string, string>;
}

/** What users have allowed in a thread, for the session or for the turn that runs. In memory only. */
export class Grants {
  readonly #resolveLinks: (path: string) => string;
  readonly #commands = new Set<string>();
  readonly #files = new Set<string>();
  #session: Granted[] = [];
  #turn: Granted[] = [];

  /** `resolveLinks` follows the links of a path as they are now. */
  constructor(resolveLinks: (path: string) => string = (path) => path) {
    this.#resolveLinks = resolveLinks;
  }

  /** Allows a command for the session, by a key that tells it from every other (`commandKey`). */
  allowCommand(key: string): void {
    this.#commands.add(key);
  }

  allowsCommand(key: string): boolean {
    return this.#commands.has(key);
  }

  /** Allows changes of these files for the session. Absolute paths. */
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
   * What has been granted beyond the sandbox policy, for as long as this turn runs. A path that leads elsewhere by now is left
   * out: a command may have put a link in the place of what was granted.
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
