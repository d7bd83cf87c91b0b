import type { Config } from '../../config/config.ts';
import { chooseModel, chooseProvider } from '../../config/providers/choose-provider.ts';
import { isEmbeddedName } from '../../config/providers/embedded-names.ts';
import { knownDefaultEffort } from '../../config/providers/known-default-effort.ts';
import { isOffline, type ProviderConfig } from '../../config/providers/provider-config.ts';
import { knownProviders } from '../../config/providers/read-provider.ts';
import { reasoningEfforts } from '../../config/providers/reasoning-efforts.ts';
import { validOrNull } from '../../config/valid-or-null.ts';
import type { InstalledModels } from '../../model/http/installed-models.ts';
import type { Model } from '../../protocol/generated/types.ts';
import { unknownModelProvider } from '../../protocol/rpc-error.ts';
import type { Configured } from '../config-writing/configured.ts';
import { pageByPosition } from '../requested/list-page.ts';
import { type MethodTable, unqueued } from '../requested/method.ts';

/** The tag that Ollama adds to a model's name if it has none. */
const OLLAMA_TAG_DEFAULT = ':latest';

/** The efforts that every client knows. Some clients drop the whole list if it has any other. */
const EFFORTS = [
  { reasoningEffort: 'minimal', description: 'As little reasoning as the model allows' },
  { reasoningEffort: 'low', description: 'Quick answers to plain questions' },
  { reasoningEffort: 'medium', description: 'For everyday work' },
  { reasoningEffort: 'high', description: 'For hard problems, at more time and cost' },
  { reasoningEffort: 'xhigh', description: 'As much reasoning as the model allows' },
];

interface Listing {
  installedModels: (provider: ProviderConfig) => Promise<InstalledModels>;
}

export function modelMethods({ config, installedModels }: Listing & Pick<Configured, 'config'>) {
  return {
    'model/list': {
      order: unqueued,
      async handle({ cursor, limit, modelProvider = null }) {
        const read = await validOrNull(config);
        const known =
          read === null || read.modelGiven ? null : await validOrNull(() => knownProviders(read));
        const isUnknown =
          modelProvider !== null &&
          known !== null &&
          !known.includes(modelProvider) &&
          !isEmbeddedName(modelProvider);
        if (isUnknown) throw unknownModelProvider(modelProvider);
        const models =
          read === null ? [] : await modelsOf(read, { modelProvider, installedModels });
        return pageByPosition(models, { cursor, limit });
      },
    },
  } satisfies Partial<MethodTable>;
}

/**
 * The configured model, which is the default, and after it the other models that the provider
 * lists. Empty if there is neither: the client was warned about the configuration, and must still
 * be able to start.
 */
async function modelsOf(
  config: Config,
  { modelProvider, installedModels }: Listing & { modelProvider: string | null },
): Promise<Model[]> {
  const provider = await validOrNull(() => chooseProvider(config, modelProvider).provider);
  if (provider === null) return [];
  const configured = await validOrNull(() => chooseModel(config, provider, null));
  const installed = config.modelGiven || isOffline(provider) ? [] : await installedModels(provider);
  const others =
    'problem' in installed
      ? []
      : installed.filter((id) => id !== configured && id !== `${configured}${OLLAMA_TAG_DEFAULT}`);
  const models = configured === null ? others : [configured, ...others];
  const effort = await validOrNull(() => config.get('model_reasoning_effort'));
  return models.map((model) =>
    listed({ model, provider, effort, isDefault: model === configured }),
  );
}

interface Listed {
  model: string;
  provider: ProviderConfig;
  /** The configured effort. */
  effort: string | null;
  isDefault: boolean;
}

function listed({ model, provider, effort, isDefault }: Listed): Model {
  const efforts = EFFORTS.filter(({ reasoningEffort }) =>
    reasoningEfforts(provider).includes(reasoningEffort),
  );
  return {
    id: model,
    model,
    upgrade: null,
    upgradeInfo: null,
    availabilityNux: null,
    displayName: model,
    description: described(provider),
    modelSpecialty: null,
    hidden: false,
    supportedReasoningEfforts: efforts,
    defaultReasoningEffort:
      efforts.find(({ reasoningEffort }) => reasoningEffort === effort)?.reasoningEffort ??
      knownDefaultEffort(model) ??
      'medium',
    inputModalities: ['text', 'image'],
    supportsPersonality: true,
    multiAgentVersion: null,
    additionalSpeedTiers: [],
    serviceTiers: [],
    defaultServiceTier: null,
    availableAccessPrograms: null,
    isDefault,
  };
}

function described(provider: ProviderConfig): string {
  if (!isOffline(provider)) return `Answers through ${provider.name}`;
  return provider.script === null
    ? 'Works offline and follows requests in the message: see docs/embedded-model.md'
    : 'Answers from a script: see docs/scripted-model.md';
}
