import { openSync } from 'node:fs';
import { SandboxUnavailableError } from '../processes/processes.ts';
import { makeUnnamedFile } from './make-unnamed-file.ts';
import { seccompFilter } from './seccomp-filter.ts';

/** The descriptor of the filter, from which bubblewrap reads it. */
export const FILTER_FD = 3;

/** The seccomp filters of commands, as files that are kept open. */
export class SeccompFiles {
  readonly #arch: string;
  readonly #home: string;
  /** By whether commands may use Unix sockets. */
  readonly #kept = new Map<boolean, number>();

  /** `arch`: the processor, as Node names it. `home`: a folder for `makeUnnamedFile`. */
  constructor(arch: string, home: string) {
    this.#arch = arch;
    this.#home = home;
  }

  /**
   * Opens the filter again for each command: each has to read it from the start. The caller closes
   * it. Throws a `SandboxUnavailableError` if there is none for this processor, or no file for it.
   */
  open(unixSockets: boolean): number {
    let kept = this.#kept.get(unixSockets);
    if (kept === undefined) {
      const filter = seccompFilter({ arch: this.#arch, unixSockets });
      if (filter === null)
        throw new SandboxUnavailableError(
          `Commands cannot be sandboxed on this processor (${this.#arch}).`,
        );
      kept = keepFilter(this.#home, filter);
      this.#kept.set(unixSockets, kept);
    }
    return openSync(`/proc/self/fd/${kept}`, 'r');
  }
}

function keepFilter(home: string, filter: Buffer): number {
  try {
    return makeUnnamedFile(home, filter);
  } catch (error) {
    throw new SandboxUnavailableError(
      `Commands cannot be sandboxed: a file that the sandbox needs cannot be created in ${home}: ${String(error)}`,
      { cause: error },
    );
  }
}
