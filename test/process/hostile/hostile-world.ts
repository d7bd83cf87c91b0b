import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isWithin } from '../../../src/base/paths/is-within.ts';
import { hasErrorCode } from '../../../src/base/system-error-code.ts';
import type { Random } from './random.ts';

/** Larger than any file that the server has to read, and sparse: it takes no disk space. */
const LARGE_BYTES = 600 * 1024 * 1024;
const REFUSED = [
  'EEXIST',
  'ENOTDIR',
  'ENOENT',
  'ELOOP',
  'ENAMETOOLONG',
  'EPERM',
  'EACCES',
  'EINVAL',
];

/**
 * Resources that all worlds of a run share: pipes, which need a process to create, and sockets that
 * commands must not reach.
 */
export interface Supplies {
  /** Returns the path of a named pipe that nobody uses yet. */
  pipe(): string;
  streamSocket: string;
  datagramSocket: string;
}

export interface WorldOptions {
  /** A new folder, for this world only. */
  base: string;
  /** The home of the server. */
  home: string;
  random: Random;
  supplies: Supplies;
}

/**
 * A workspace with hostile content, and the folders around it. Makers never write outside `base`
 * and never replace anything: if two layouts use the same path, the first one keeps it.
 */
export class HostileWorld {
  readonly base: string;
  readonly home: string;
  readonly random: Random;
  readonly work: string;
  /** A folder that every user can write to, such as /tmp. It is a writable root. */
  readonly temp: string;
  /**
   * Contains files with hard links in the workspace. Commands may write these files through the
   * links.
   */
  readonly linked: string;
  /** Nothing in here may change, and nothing may be added. */
  readonly outside: string;
  /** The names of the layouts. */
  readonly layouts: string[] = [];
  /** Places that a refusal may name. It must name one of them. */
  readonly offenders = new Set<string>();
  /** Paths that commands must not change, create or remove, in addition to `outside`. */
  readonly kept = new Set<string>();
  /** Folders that look like guards of a killed server, so the server removes them. */
  readonly guards = new Set<string>();
  /** Writable roots beside the workspace. */
  readonly roots: string[] = [];
  /** The working directory of the thread. */
  cwd: string;
  readonly #supplies: Supplies;

  constructor({ base, home, random, supplies }: WorldOptions) {
    this.base = base;
    this.home = home;
    this.random = random;
    this.#supplies = supplies;
    this.work = join(base, 'work');
    this.temp = join(base, 'temp');
    this.outside = join(base, 'outside');
    this.linked = join(base, 'linked');
    this.cwd = this.work;
    for (const folder of [this.work, this.outside, this.linked])
      mkdirSync(folder, { recursive: true });
    mkdirSync(this.temp);
    chmodSync(this.temp, 0o1777);
    writeFileSync(join(this.linked, 'file'), 'linked\n');
    this.#fillOutside();
  }

  /** A path in the workspace. */
  at(...names: string[]): string {
    return join(this.work, ...names);
  }

  folder(path: string): boolean {
    return this.#make(path, () => mkdirSync(path));
  }

  file(path: string, content: string | Buffer = ''): boolean {
    return this.#make(path, () => writeFileSync(path, content, { flag: 'wx' }));
  }

  link(path: string, target: string): boolean {
    return this.#make(path, () => symlinkSync(target, path));
  }

  hardLink(path: string, target: string): boolean {
    return this.#make(path, () => linkSync(target, path));
  }

  pipe(path: string): boolean {
    return this.#make(path, () => renameSync(this.#supplies.pipe(), path));
  }

  socket(path: string): boolean {
    return this.hardLink(
      path,
      this.random.chance(0.5) ? this.#supplies.streamSocket : this.#supplies.datagramSocket,
    );
  }

  large(path: string, begin = ''): boolean {
    if (!this.file(path, begin)) return false;
    truncateSync(path, LARGE_BYTES);
    return true;
  }

  /** A chain of links, each to the next one: one more than the system follows. */
  chain(path: string, end: string): boolean {
    const name = (index: number) => `${path}-link${index}`;
    for (let index = 1; index <= 40; index++)
      this.link(name(index), index === 40 ? end : name(index + 1));
    return this.link(path, name(1));
  }

  /** Adds paths that must not change. A missing path must stay missing. */
  keep(...paths: string[]): void {
    for (const path of paths) this.kept.add(path);
  }

  /** Adds places that a refusal may name. */
  blame(...paths: string[]): void {
    for (const path of paths) this.offenders.add(path);
  }

  #make(path: string, make: () => void): boolean {
    try {
      this.#makeParents(dirname(path));
      lstatSync(path);
      return false;
    } catch (error) {
      if (!hasErrorCode(error, ['ENOENT'])) return false;
    }
    try {
      make();
    } catch (error) {
      if (hasErrorCode(error, REFUSED)) return false;
      throw error;
    }
    this.blame(path);
    return true;
  }

  /** Throws if a link in the path leads out of the world, or the system refuses a folder. */
  #makeParents(folder: string): void {
    let existing = folder;
    while (lstatSync(existing, { throwIfNoEntry: false }) === undefined)
      existing = dirname(existing);
    if (!isWithin(realpathSync(existing), this.base))
      throw new Error(`${folder} is not in the world`);
    mkdirSync(folder, { recursive: true });
  }

  #fillOutside(): void {
    for (const name of [
      'secret.txt',
      'config',
      'repo/.git/config',
      'repo/.git/HEAD',
      'skill/SKILL.md',
      'folder/inner/file',
    ]) {
      mkdirSync(dirname(join(this.outside, name)), { recursive: true });
      writeFileSync(join(this.outside, name), `canary ${name}\n`);
    }
    writeFileSync(join(this.outside, 'run.sh'), '#!/bin/sh\necho canary\n', { mode: 0o755 });
    linkSync(this.#supplies.streamSocket, join(this.outside, 'stream.sock'));
    linkSync(this.#supplies.datagramSocket, join(this.outside, 'datagram.sock'));
  }
}
