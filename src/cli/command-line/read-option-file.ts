import { resolve } from 'node:path';
import { FileRefusedError } from '../../base/files/file-refused-error.ts';
import { readRegularFile } from '../../base/files/read-regular-file.ts';
import { systemErrorCode } from '../../base/system-error-code.ts';
import { OptionError, systemReason } from './option-error.ts';

/** The content of a file that an option names. Rejects with an OptionError. */
export async function readOptionFile(
  option: string,
  file: string,
  bytesMax: number,
): Promise<Buffer> {
  const failed = (reason: string) =>
    new OptionError(`${option} ${file}: the file cannot be read: ${reason}`);
  try {
    const content = await readRegularFile(resolve(file), { bytesMax });
    if (content === null) throw failed('it does not exist');
    return content.bytes;
  } catch (error) {
    if (error instanceof FileRefusedError) throw failed(error.message);
    if (systemErrorCode(error) !== null) throw failed(systemReason(error));
    throw error;
  }
}
