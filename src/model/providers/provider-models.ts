import { sleep } from '../../base/clock.ts';
import type { ProviderConfig } from '../../config/providers/provider-config.ts';
import type { ProviderModelDeps } from '../http/create-provider-model.ts';
import type { InstalledModels, ModelListing } from '../http/installed-models.ts';
import { ArrivingResponses } from '../http/response/arriving-responses.ts';
import type { Model } from '../model.ts';
import { PictureModel } from '../pictures/picture-model.ts';
import { ScaledPictures, type ScalePicture } from '../pictures/scaled-pictures.ts';
import { SentPictures } from '../pictures/sent-pictures.ts';
import { ModelPool } from './model-pool.ts';

/** For how long a list of models counts, and for how long the failure to get one does. */
const LISTED_MS = 5 * 60_000;
const UNLISTED_MS = 5_000;
/** The most lists that are kept. */
const LISTS_MAX = 16;
/** How long clients wait for a list. If it comes later, the next one gets it. */
const WAIT_MS_MAX = 1_000;

interface KeptList {
  untilMs: number;
  listing: Promise<ModelListing>;
  hasArrived: boolean;
  /** A client has stopped waiting for it, and none has got it since. */
  isMissed: boolean;
}

interface ProviderModelsDeps extends ProviderModelDeps {
  scalePicture: ScalePicture;
  /** Called once, when responses that take much memory are under way. */
  onLongResponses?: (() => void) | undefined;
}

/** The models of the providers, created when they are needed, or the one that replaces them. */
export function providerModels(
  given: Model | null,
  { scalePicture, onLongResponses, ...deps }: ProviderModelsDeps,
) {
  const arriving = new ArrivingResponses(deps.clock, onLongResponses);
  const pictures = new SentPictures(new ScaledPictures(scalePicture));
  const models = new ModelPool(
    given,
    async (provider) => {
      const { createModel } = await import('./create-model.ts');
      return createModel(provider, { ...deps, arriving });
    },
    (model) => new PictureModel(model, pictures),
  );
  const lists = new ProviderLists(deps);
  return {
    models,
    listings: {
      installedModels: (provider: ProviderConfig) => lists.installed(provider),
      listedWindows: (provider: ProviderConfig) => lists.windows(provider),
    },
  };
}

/** The last lists of providers. */
class ProviderLists {
  readonly #deps: ProviderModelDeps;
  readonly #kept = new Map<string, KeptList>();

  constructor(deps: ProviderModelDeps) {
    this.#deps = deps;
  }

  /** The ids of the models. Takes a second at most. */
  async installed(provider: ProviderConfig): Promise<InstalledModels> {
    const arrived = new AbortController();
    // The list of a server on this machine changes at once when the user installs a model.
    const kept = this.#list(provider, { isFresh: provider.localServer !== null });
    const tooSlow = sleep(this.#deps.clock, WAIT_MS_MAX, arrived.signal).then(() => null);
    const listed = await Promise.race([kept.listing, tooSlow]);
    arrived.abort();
    kept.isMissed = listed === null;
    if (listed === null)
      return (await import('../http/installed-models.ts')).slowListing(
        provider,
        this.#deps,
        WAIT_MS_MAX,
      );
    return 'problem' in listed ? listed : listed.ids;
  }

  /**
   * The context windows that the provider lists, and those with which a program on the user's
   * machine runs its models now.
   */
  async windows(provider: ProviderConfig): Promise<ReadonlyMap<string, number>> {
    const { loadedWindows } = await import('../http/installed-models.ts');
    const [listed, loaded] = await Promise.all([
      this.#list(provider).listing,
      loadedWindows(provider, this.#deps),
    ]);
    return new Map([...('problem' in listed ? [] : listed.windows), ...loaded]);
  }

  /** Fresh: one that is under way, or that no client has got because it came too late. */
  #list(provider: ProviderConfig, { isFresh = false } = {}): KeptList {
    const { clock, storedLogin } = this.#deps;
    // Another key may have other models.
    const name = JSON.stringify([provider, provider.usesLogin ? storedLogin?.().apiKey : null]);
    const known = this.#kept.get(name);
    if (
      known !== undefined &&
      clock.monotonic() < known.untilMs &&
      (!isFresh || !known.hasArrived || known.isMissed)
    )
      return known;
    const kept = {
      untilMs: clock.monotonic() + LISTED_MS,
      listing: this.#ask(provider),
      hasArrived: false,
      isMissed: false,
    };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    for (const oldest of this.#kept.keys())
      if (this.#kept.size > LISTS_MAX) this.#kept.delete(oldest);
    void kept.listing.then((listed) => {
      kept.hasArrived = true;
      // Soon asked again: the key or the network may be back.
      if ('problem' in listed) kept.untilMs = clock.monotonic() + UNLISTED_MS;
    });
    return kept;
  }

  async #ask(provider: ProviderConfig): Promise<ModelListing> {
    const { listProviderModels } = await import('../http/installed-models.ts');
    const listed = await listProviderModels(provider, this.#deps);
    if ('problem' in listed)
      this.#deps.log.info(
        { provider: provider.id, problem: listed.problem },
        'the models could not be listed',
      );
    return listed;
  }
}
