import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { chooseModel, chooseProvider } from '../config/providers.ts';
import type { Model } from '../protocol/generated/types.ts';
import type { MethodTable } from './method.ts';

/** The words that every client knows: one that is not among them makes some drop the whole list. */
const EFFORTS = [
  { reasoningEffort: 'minimal', description: 'As little reasoning as the model allows' },
  { reasoningEffort: 'low', description: 'Quick answers to plain questions' },
  { reasoningEffort: 'medium', description: 'For everyday work' },
  { reasoningEffort: 'high', description: 'For hard problems, at more time and cost' },
  { reasoningEffort: 'xhigh', description: 'As much reasoning as the model allows' },
];

export function modelMethods({ config }: { config: () => Promise<Config> }) {
  return {
    'model/list': {
      queue: null,
      async handle() {
        return { data: modelsOf(await config()), nextCursor: null };
      },
    },
  } satisfies Partial<MethodTable>;
}

/** None where the configuration names none: a client has been warned of it, and gets through its start. */
function modelsOf(config: Config): Model[] {
  try {
    const { provider } = chooseProvider(config, null);
    return [listed(chooseModel(config, provider, null), provider.name, config)];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

function listed(model: string, providerName: string, config: Config): Model {
  const effort = config.get('model_reasoning_effort');
  return {
    id: model,
    model,
    upgrade: null,
    upgradeInfo: null,
    availabilityNux: null,
    displayName: model,
    description: `Answers through ${providerName}`,
    modelSpecialty: null,
    hidden: false,
    supportedReasoningEfforts: EFFORTS,
    defaultReasoningEffort: EFFORTS.find(({ reasoningEffort }) => reasoningEffort === effort)?.reasoningEffort ?? 'medium',
    inputModalities: ['text', 'image'],
    supportsPersonality: true,
    multiAgentVersion: null,
    additionalSpeedTiers: [],
    serviceTiers: [],
    defaultServiceTier: null,
    availableAccessPrograms: null,
    isDefault: true,
  };
}
