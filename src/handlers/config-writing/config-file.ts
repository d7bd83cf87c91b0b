import { dirname, resolve } from 'node:path';
import { makeFolderSync } from '../../base/paths/make-folder.ts';
import { realPathOrSame } from '../../base/paths/real-path.ts';
import { hasErrorCode } from '../../base/system-error-code.ts';
import { readConfigText } from '../../config/layers/layer.ts';
import { ConfigError } from '../../config/toml/config-error.ts';
import { whyNotWritten } from '../../files/why-not-written.ts';
import { writeText } from '../../files/write-all.ts';
import { writeFile } from '../../files/write-file.ts';
import { configWriteInvalid, configWriteRefused } from '../../protocol/config-write-refused.ts';
import { fileFailed } from '../../protocol/errors/file-errors.ts';

/** Of a file that only the user can read. */
export const PRIVATE_MODE = 0o600;

/** The system's codes of a file that the server may not change. */
const READ_ONLY = ['EACCES', 'EPERM', 'EROFS'];

/** A config.toml, which is replaced only if it is still as it was read. */
export class ConfigFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Throws an RpcError if a client names another file. */
  requireNamed(filePath: string | null): void {
    if (filePath === null || filePath === '') return;
    const isOwn =
      filePath === resolve(filePath) && realPathOrSame(filePath) === realPathOrSame(this.path);
    if (!isOwn)
      throw configWriteRefused(
        'configLayerReadonly',
        `only ${this.path} can be changed, not ${filePath}`,
      );
  }

  /** Null: there is no file. Throws an RpcError if it cannot be read. */
  read(): string | null {
    try {
      return readConfigText(this.path);
    } catch (error) {
      throw asInvalid(error);
    }
  }

  /**
   * Returns false if the file is not as it was before: another program has changed it meanwhile.
   * Rejects with an RpcError if it cannot be written.
   */
  async replace(
    text: string,
    before: string | null,
    mode = before === null ? PRIVATE_MODE : null,
  ): Promise<boolean> {
    const check = () => {
      if (this.read() !== before) throw new ChangedMeanwhile();
    };
    try {
      makeFolderSync(dirname(this.path), 0o700);
      await writeFile(this.path, (file) => writeText(file, text), { mode, before, check });
      return true;
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return false;
      throw asUnwritten(error, this.path);
    }
  }

  /** The error of a write that `replace` did not do. */
  changedMeanwhile(): Error {
    return configWriteRefused(
      'configVersionConflict',
      `${this.path} has changed since it was read: read the configuration again`,
    );
  }
}

class ChangedMeanwhile extends Error {}

/** Writes the text of an old config.toml to another path. Rejects with an RpcError. */
export async function keepAs(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, (file) => writeText(file, text), { mode: PRIVATE_MODE });
  } catch (error) {
    throw asUnwritten(error, path);
  }
}

/** A ConfigError as the error of a request. */
export function asInvalid(error: unknown): unknown {
  return error instanceof ConfigError ? configWriteInvalid(error.message) : error;
}

/** The system's error of a write, as the error of a request. */
function asUnwritten(error: unknown, path: string): unknown {
  const why = whyNotWritten(error);
  if (why === null) return error;
  if (hasErrorCode(error, READ_ONLY))
    return configWriteRefused(
      'configLayerReadonly',
      `${path} cannot be changed: ${why}. Change its permissions, or the file by hand`,
    );
  return fileFailed('file_failed', `${path} was not changed: ${why}`, path);
}
