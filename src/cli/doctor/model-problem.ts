import { suggestKey } from '../../base/text/suggest-key.ts';
import type { Config } from '../../config/config.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { DoctorProblem } from './doctor-check.ts';
import { settingPlace } from './setting-place.ts';

/** How many of a provider's models are named. */
const NAMED_MAX = 5;

/**
 * Looks for the model among those that its provider lists. It is only a warning, because some
 * providers serve models that they do not list.
 */
export function modelProblem(
  config: Config,
  {
    provider,
    model,
    listed,
  }: { provider: ProviderConfig; model: string; listed: readonly string[] },
): DoctorProblem[] {
  if (listed.length === 0 || listed.some((id) => isOfName(id, model))) return [];
  const similar = suggestKey(model, listed);
  const further = listed.length > NAMED_MAX ? ', …' : '';
  const advice =
    similar === null
      ? `Set model to one that it lists: ${listed.slice(0, NAMED_MAX).join(', ')}${further}.`
      : `Did you mean ${similar}?`;
  const message = `the provider ${provider.id} does not list the model ${model}`;
  return [{ severity: 'warning', message, fix: advice, ...settingPlace(config, ['model']) }];
}

/** Whether an id in a list is that of the model: some have a tag or a folder in addition. */
function isOfName(id: string, model: string): boolean {
  const [listed, asked] = [id.toLowerCase(), model.toLowerCase()];
  return listed === asked || listed === `${asked}:latest` || listed.endsWith(`/${asked}`);
}
