import { NoModelError } from '../../config/providers/choose-provider.ts';
import type { LocalServer, ProviderConfig } from '../../config/providers/provider-config.ts';
import type { InstalledModels } from '../../model/http/installed-models.ts';

/** How many model names the error lists. */
const NAMED_MAX = 20;

/** How to install a first model. */
const INSTALL_HINTS: Record<LocalServer, string> = {
  ollama: 'none is installed; get one with "ollama pull NAME"',
  lmstudio: 'none is installed; download one in LM Studio or with "lms get NAME"',
};

/**
 * Adds the installed models to the error for a missing model, if the provider is a local server.
 */
export async function missingModelError(
  error: NoModelError,
  installedModels: (provider: ProviderConfig) => Promise<InstalledModels>,
): Promise<NoModelError> {
  const { provider } = error;
  const { localServer } = provider;
  if (localServer === null) return error;
  const names = await installedModels(provider);
  if ('problem' in names)
    return new NoModelError(provider, `set model in config.toml. ${names.problem}`);
  if (names.length === 0) return new NoModelError(provider, INSTALL_HINTS[localServer]);
  const more = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : '';
  return new NoModelError(
    provider,
    `set model in config.toml to one that is installed: ${names.slice(0, NAMED_MAX).join(', ')}${more}`,
  );
}
