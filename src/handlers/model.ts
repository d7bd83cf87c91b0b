import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ProviderConfig } from '../config/provider.ts';
import { chooseModel, chooseProvider } from '../config/providers.ts';
import type { InstalledModels } from '../model/installed-models.ts';
import type { Model } from '../protocol/generated/types.ts';
import type { MethodTable } from './method.ts';

/** What Ollama adds to a name that is asked for without a tag. */
const OLLAMA_TAG_DEFAULT = ':latest';

/** The words that every client knows: one that is not among them makes some drop the whole list. */
const EFFORTS = [
  { reasoningEffort: 'minimal', description: 'As little reasoning as the model allows' },
  { reasoningEffort: 'low', description: 'Quick answers to plain questions' },
  { reasoningEffort: 'medium', description: 'For everyday work' },
  { reasoningEffort: 'high', description: 'For hard problems, at more time and cost' },
  { reasoningEffort: 'xhigh', description: 'As much reasoning as the model allows' },
];

/** Programs on this machine refuse others. */
const LOCAL_EFFORTS = new Set(['low', 'medium', 'high']);

interface ModelDeps {
  config: () => Promise<Config>;
  installedModels: (provider: ProviderConfig) => Promise<InstalledModels>;
}

export function modelMethods({ config, installedModels }: ModelDeps) {
  return {
    'model/list': {
      queue: null,
      async handle() {
        return { data: await modelsOf(await config(), installedModels), nextCursor: null };
      },
    },
  } satisfies Partial<MethodTable>;
}

/**
 * The configured model, first and the default, and for a provider on this machine what else is installed there. None where
 * neither names one: a client has been warned of it, and gets through its start.
 */
async function modelsOf(config: Config, installedModels: ModelDeps['installedModels']): Promise<Model[]> {
  const provider = orNull(() => chooseProvider(config, null).provider);
  if (provider === null) return [];
  const configured = orNull(() => chooseModel(config, provider, null));
  const installed = provider.localServer === null ? [] : await installedModels(provider);
  const others = 'problem' in installed ? [] : installed.filter((id) => id !== configured && id !== `${configured}${OLLAMA_TAG_DEFAULT}`);
  const models = configured === null ? others : [configured, ...others];
  return models.map((model, place) => listed({ model, provider, config, isDefault: place === 0 }));
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return null;
    throw error;
  }
}

interface Listed {
  model: string;
  provider: ProviderConfig;
  config: Config;
  isDefault: boolean;
}

function listed({ model, provider, config, isDefault }: Listed): Model {
  const efforts = EFFORTS.filter(({ reasoningEffort }) => provider.localServer === null || LOCAL_EFFORTS.has(reasoningEffort));
  const effort = config.get('model_reasoning_effort');
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
    defaultReasoningEffort: efforts.find(({ reasoningEffort }) => reasoningEffort === effort)?.reasoningEffort ?? 'medium',
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

function described({ name, wireApi, script }: ProviderConfig): string {
  if (wireApi !== 'scripted') return `Answers through ${name}`;
  return script === null
    ? 'Works offline and follows requests in the message: see docs/scripted-model.md'
    : 'Answers from a script: see docs/scripted-model.md';
}
