import { type ConfigSources, loadConfig } from '../config/load-config.ts';
import { unknownKeys } from '../config/problems/key-warnings.ts';
import { TrustedFiles } from '../config/trust/trusted-files.ts';
import { OptionError } from './command-line/option-error.ts';

/**
 * Throws an OptionError if the configuration has a key that heddle does not know, for
 * `--strict-config`.
 */
export async function requireKnownKeys(
  sources: Omit<ConfigSources, 'trustedFiles'>,
): Promise<void> {
  const trustedFiles = new TrustedFiles({ home: sources.home, writes: false });
  const { layers } = await loadConfig({ ...sources, trustedFiles });
  const [first] = layers
    .filter(({ disabledReason }) => disabledReason === null)
    .flatMap(unknownKeys);
  if (first !== undefined)
    throw new OptionError(
      `--strict-config: ${first.summary}${first.details === null ? '' : `. ${first.details}`}`,
    );
}
