import { type ConfigSources, loadConfig } from '../config/load-config.ts';
import { unknownKeys } from '../config/problems/unknown-keys.ts';
import { TrustRecordFile } from '../config/trust/trust-record-file.ts';
import { OptionError } from './command-line/option-error.ts';

/**
 * Throws an OptionError if the configuration has a key that heddle does not know, for
 * `--strict-config`.
 */
export async function requireKnownKeys(
  sources: Omit<ConfigSources, 'trustedFiles'>,
): Promise<void> {
  const trustedFiles = new TrustRecordFile({ home: sources.home, writes: false });
  const { layers } = await loadConfig({ ...sources, trustedFiles });
  const [first] = layers
    .filter(({ disabledReason }) => disabledReason === null)
    .flatMap(unknownKeys);
  if (first !== undefined)
    throw new OptionError(
      `--strict-config: ${first.summary}${first.details === null ? '' : `. ${first.details}`}`,
    );
}
