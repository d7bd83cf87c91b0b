import { readStoredLogin } from '../config/login/stored-login.ts';
import type { Model } from '../model/model.ts';
import { scaleInWorker } from '../model/pictures/scale-in-worker.ts';
import type { ScalePicture } from '../model/pictures/scaled-pictures.ts';
import { providerModels } from '../model/providers/provider-models.ts';
import type { Providers } from '../model/providers/providers.ts';
import { RateLimits } from '../model/rate-limits.ts';
import type { RateLimitSnapshot } from '../protocol/generated/types.ts';
import type { AppParts } from './app-parts.ts';
import type { Front } from './front.ts';

/** The models of the providers, and the rate limits that their responses tell. */
export function createProviders(
  { model, home, env, version, onLongResponses }: AppParts,
  { clients, clock, log, workerScript }: Front,
) {
  const rateLimits = new RateLimits((limits) =>
    clients.publish('everyone', 'account/rateLimits/updated', { rateLimits: limits }),
  );
  const deps = {
    ...{ env, clock, log },
    userAgent: `heddle/${version}`,
    storedLogin: () => readStoredLogin(home),
    onRateLimits: (limits: RateLimitSnapshot) => rateLimits.note(limits),
    scalePicture: workerScript === null ? scaleHere() : scaleInWorker(workerScript),
    onLongResponses,
  };
  const { models, listings } = providerModels(model ?? null, deps);
  const providers: Providers = {
    modelGiven: isModelGiven(model),
    modelFor: (provider) => models.get(provider),
    ...listings,
  };
  return { providers, models, rateLimits };
}

/** The services that answer requests to models. */
export type ProviderServices = ReturnType<typeof createProviders>;

/** Scales pictures in this thread, until one cannot be decoded. */
function scaleHere(): ScalePicture {
  let isUsable = true;
  return async (picture, sideMax) => {
    const { scalePicture } = await import('../model/pictures/scale-picture.ts');
    if (!isUsable) return 'unfinished';
    const scaled = scalePicture(picture, sideMax);
    isUsable = scaled !== null;
    return scaled;
  };
}

/** Whether one model serves every provider. */
export function isModelGiven(model: Model | undefined): Providers['modelGiven'] {
  return model?.isEmbedded ? 'embedded' : model !== undefined;
}
