import { sleep, type Timer } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { userShell } from '../call/user-shell.ts';
import { PROFILE_EACH_TIME, type ShellExports } from './shell-exports.ts';
import type { Snapshot, SnapshotServices } from './take-snapshot.ts';

/** The first turn of a thread begins before the shell is started, unless it runs a command. */
const BEGIN_AFTER_MS = 500;
/** How long commands wait for the snapshot, from the first of them on. */
const WAIT_MS_MAX = 3_000;
const NONE: Readonly<Record<string, string>> = {};

/** The variables that the start files of the user's shell export, read once for the server. */
export class ShellSnapshot implements ShellExports {
  readonly switchedOff = PROFILE_EACH_TIME;
  readonly #services: SnapshotServices & { log: Log };
  readonly #shell: string;
  readonly #closing = new AbortController();
  #timer: Timer | null = null;
  #taking: Promise<void> | null = null;
  #waited: Promise<void> | null = null;
  #snapshot: Snapshot | null = null;

  constructor(services: SnapshotServices & { log: Log }) {
    this.#services = services;
    this.#shell = userShell(services.env);
  }

  begin(): void {
    this.#timer ??= this.#services.clock.setTimer(() => void this.#taken(), BEGIN_AFTER_MS);
  }

  async ready(signal: AbortSignal): Promise<void> {
    this.#waited ??= this.#wait();
    if (signal.aborted || this.#snapshot !== null) return;
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      void this.#waited?.then(resolve);
    });
  }

  get variables(): Readonly<Record<string, string>> {
    return this.#snapshot !== null && 'variables' in this.#snapshot
      ? this.#snapshot.variables
      : NONE;
  }

  replacesProfile(shell: string): boolean {
    return this.#snapshot !== null && 'variables' in this.#snapshot && shell === this.#shell;
  }

  /** Ends the shell if it runs. */
  close(): void {
    this.#timer?.clear();
    this.#closing.abort();
  }

  #taken(): Promise<void> {
    this.#taking ??= this.#take();
    return this.#taking;
  }

  async #wait(): Promise<void> {
    const over = new AbortController();
    await Promise.race([this.#taken(), sleep(this.#services.clock, WAIT_MS_MAX, over.signal)]);
    over.abort();
  }

  /** Never rejects. */
  async #take(): Promise<void> {
    const { log } = this.#services;
    try {
      const { takeSnapshot } = await import('./take-snapshot.ts');
      this.#snapshot = await takeSnapshot(this.#services, this.#closing.signal);
      if ('problem' in this.#snapshot && !this.#closing.signal.aborted) {
        log.info(
          { problem: this.#snapshot.problem },
          'the variables of the user’s shell are not known',
        );
      }
    } catch (error) {
      this.#snapshot = { problem: 'it failed' };
      log.error({ err: error }, 'the variables of the user’s shell cannot be read');
    }
  }
}
