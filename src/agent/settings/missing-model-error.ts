import { NoModelError } from '../../config/providers/choose-provider.ts';
import type { LocalServer, ProviderConfig } from '../../config/providers/provider-config.ts';
import type { InstalledModels } from '../../model/http/installed-models.ts';

/** More names than this do not help anybody to choose. */
const NAMED_MAX = 20;

/** How to get a first model. */
const GET_ONE: Record<LocalServer, string> = {
  ollama: 'none is installed; get one with "ollama pull NAME"',
  lmstudio: 'none is installed; download one in LM Studio or with "lms get NAME"',
};

/** An error of a missing model, for a provider on this machine with what is installed there. */
export async function missingModelError(
  error: NoModelError,
  installedModels: (provider: ProviderConfig) => Promise<InstalledModels>,
): Promise<NoModelError> {
  const { provider } = error;
  const { localServer } = provider;
  if (localServer === null) return error;
  const names = await installedModels(provider);
  if ('problem' in names) return new NoModelError(provider, `set model in config.toml. ${names.problem}`);
  if (names.length === 0) return new NoModelError(provider, GET_ONE[localServer]);
  const more = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : '';
  return new NoModelError(provider, `set model in config.toml to one that is installed: ${names.slice(0, NAMED_MAX).join(', ')}${more}`);
}
