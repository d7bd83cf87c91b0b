import { join } from 'node:path';
import { FileRefusedError } from '../base/files/file-refused-error.ts';
import { readRegularFile } from '../base/files/read-regular-file.ts';
import { systemErrorCode } from '../base/system-error-code.ts';

const CONFIG_BYTES_MAX = 4 * 1024 * 1024;

/** The text of config.toml in a home. Empty if it cannot be read, which a server reports. */
export async function configText(home: string): Promise<string> {
  try {
    const content = await readRegularFile(join(home, 'config.toml'), {
      bytesMax: CONFIG_BYTES_MAX,
    });
    return content?.bytes.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof FileRefusedError || systemErrorCode(error) !== null) return '';
    throw error;
  }
}
