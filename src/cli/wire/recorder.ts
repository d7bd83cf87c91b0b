import { writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import { openNewFile } from '../../base/files/open-new-file.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { OptionError, systemReason } from '../command-line/option-error.ts';

/**
 * A file with the lines that a session has sent, as JSON. Each is written at once, so it is kept if
 * the process dies.
 */
export class Recorder {
  readonly #file: FileHandle;
  readonly #onProblem: (reason: string) => void;
  #hasFailed = false;

  constructor(file: FileHandle, onProblem: (reason: string) => void) {
    this.#file = file;
    this.#onProblem = onProblem;
  }

  /**
   * Creates the file. Rejects with an OptionError if that fails, or if it exists already.
   * `onProblem` is called for the first lost line.
   */
  static async create(file: string, onProblem: (reason: string) => void): Promise<Recorder> {
    try {
      return new Recorder(await openNewFile(resolve(file), 0o600), onProblem);
    } catch (error) {
      if (systemErrorCode(error) === null && !(error instanceof FileRefusedError)) throw error;
      const reason =
        systemErrorCode(error) === 'EEXIST'
          ? 'it exists already: choose another name'
          : systemReason(error);
      throw new OptionError(`--save ${file}: the file cannot be created: ${reason}`, {
        cause: error,
      });
    }
  }

  write(line: object): void {
    if (this.#hasFailed) return;
    try {
      writeSync(this.#file.fd, `${JSON.stringify(line)}\n`);
    } catch (error) {
      if (systemErrorCode(error) === null) throw error;
      this.#hasFailed = true;
      this.#onProblem(systemReason(error));
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
