import type { GrantedPermissions } from './sandbox-bounds.ts';

/** What users have allowed in a thread, for the session or for the turn that runs. In memory only. */
export class Grants {
  readonly #commands = new Set<string>();
  readonly #files = new Set<string>();
  #session: GrantedPermissions[] = [];
  #turn: GrantedPermissions[] = [];

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
    (scope === 'session' ? this.#session : this.#turn).push(permissions);
  }

  /** What has been granted beyond the sandbox policy, for as long as this turn runs. */
  get permissions(): readonly GrantedPermissions[] {
    return [...this.#session, ...this.#turn];
  }

  endTurn(): void {
    this.#turn = [];
  }
}
