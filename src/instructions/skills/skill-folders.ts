import { join } from 'node:path';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Env } from '../../base/env.ts';
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { PathWatch } from '../../files/path-watch.ts';
import { type FoundSkills, findSkills } from './find-skills.ts';
import { skillSearch } from './skill-search.ts';

/** Changes are collected for this time before clients are told. */
const COLLECT_MS = 500;
/** The working directorys whose skills are watched: those that clients have asked for last. */
const CWDS_MAX = 16;
const WATCHES_MAX = 256;

export interface SkillFoldersDeps {
  clock: Clock;
  log: Log;
  /** The absolute path of heddle's home. */
  home: string;
  /** The server's own environment. */
  env: Env;
  /** The configuration for a working directory. */
  config: (cwd: string) => Promise<Config>;
  /** Called after skills have changed. */
  onChange: () => void;
}

/**
 * The folders with skills that clients have named, for this run of the server, and a watch on all
 * that clients have listed skills of.
 */
export class SkillFolders {
  readonly #deps: SkillFoldersDeps;
  readonly #cwds = new Set<string>();
  #watches = new Map<string, PathWatch>();
  #timer: Timer | null = null;
  #updated: Promise<void> = Promise.resolve();
  #isClosed = false;
  #extraRoots: readonly string[] = [];

  constructor(deps: SkillFoldersDeps) {
    this.#deps = deps;
  }

  /** Further folders in which skills are looked for. Absolute paths. */
  get extraRoots(): readonly string[] {
    return this.#extraRoots;
  }

  setExtraRoots(roots: readonly string[]): void {
    this.#extraRoots = [...new Set(roots)];
    this.#update();
  }

  /**
   * The skills that a thread in this folder has, and those that are switched off. If the
   * configuration cannot be read, none is switched off, and an error says why.
   */
  async find(cwd: string): Promise<FoundSkills> {
    const { home, env, config } = this.#deps;
    const where = { cwd, extraRoots: this.#extraRoots };
    try {
      return await findSkills(await skillSearch(await config(cwd), where));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const found = await findSkills({ ...where, home, userHome: env.HOME || null, switches: [] });
      const path = error.location.path ?? join(home, 'config.toml');
      return { ...found, errors: [{ path, message: error.message }, ...found.errors] };
    }
  }

  /**
   * Watches the skills of working directorys from now on. Resolves once no later change is missed.
   * Never rejects.
   */
  watch(cwds: readonly string[]): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const before = new Set(this.#cwds);
    for (const cwd of cwds) {
      this.#cwds.delete(cwd);
      this.#cwds.add(cwd);
    }
    for (const old of [...this.#cwds].slice(0, -CWDS_MAX)) this.#cwds.delete(old);
    if ([...this.#cwds].some((cwd) => !before.has(cwd))) this.#update();
    return this.#updated;
  }

  /** Tells that skills have changed. */
  changed(): void {
    this.#deps.onChange();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.clear();
    await this.#updated;
    for (const watch of this.#watches.values()) watch.close();
  }

  /** Watches the folders that there are now. */
  #update(): void {
    if (this.#cwds.size === 0) return;
    this.#updated = this.#updated
      .then(() => this.#follow())
      .catch((error) => this.#deps.log.warn({ err: error }, 'watching skills failed'));
  }

  async #follow(): Promise<void> {
    const folders = new Set<string>();
    for (const cwd of this.#cwds)
      for (const folder of (await this.find(cwd)).searched) folders.add(folder);
    const kept = new Map<string, PathWatch>();
    for (const folder of [...folders].slice(0, WATCHES_MAX)) {
      if (this.#isClosed) break;
      const watch = this.#watches.get(folder) ?? (await this.#start(folder));
      this.#watches.delete(folder);
      if (watch !== null) kept.set(folder, watch);
    }
    for (const watch of this.#watches.values()) watch.close();
    this.#watches = kept;
  }

  async #start(folder: string): Promise<PathWatch | null> {
    try {
      return await PathWatch.start(folder, {
        onChange: () => this.#see(),
        onLost: (error) => this.#lost(folder, error),
      });
    } catch (error) {
      this.#lost(folder, error);
      return null;
    }
  }

  #lost(folder: string, error: unknown): void {
    this.#deps.log.warn({ err: error, folder }, 'changes of skills in this folder are not noticed');
  }

  #see(): void {
    if (this.#isClosed) return;
    this.#timer ??= this.#deps.clock.setTimer(() => {
      this.#timer = null;
      this.#update();
      this.#deps.onChange();
    }, COLLECT_MS);
  }
}
