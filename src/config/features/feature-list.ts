import type { ExperimentalFeature } from '../../protocol/generated/types.ts';
import type { Config } from '../config.ts';
import { errorThrownBy } from '../config-errors.ts';
import { SETTINGS, type SettingName } from '../settings/settings.ts';
import { isTable, valueAt } from '../toml/config-table.ts';

type Described = Pick<ExperimentalFeature, 'name' | 'stage' | 'displayName' | 'description'>;

/** A key of `[features]` that heddle uses. */
interface Feature extends Described {
  defaultEnabled: boolean;
  /** Throws a ConfigError if the value is invalid. */
  isEnabled(config: Config): boolean;
}

/** All keys of `[features]` that heddle uses, by their names. */
export const FEATURE_LIST: readonly Feature[] = [
  flag('default_mode_request_user_input', 'beta', {
    displayName: 'Questions in the default mode',
    description: 'The model may ask you questions also outside of plan mode.',
  }),
  flag('exec_permission_approvals', 'beta', {
    displayName: 'Permissions for one command',
    description: 'A command may ask for more than its sandbox allows, and stays in the sandbox.',
  }),
  flag('goals', 'stable'),
  flag('guardian_approval', 'deprecated', {
    displayName: null,
    description: 'Use approvals_reviewer = "guardian_subagent" instead.',
  }),
  flag('hooks', 'stable'),
  flag('multi_agent', 'stable'),
  {
    name: 'network_proxy',
    stage: 'beta',
    displayName: 'Managed network',
    description:
      'Commands in a sandbox reach the network only through a proxy that decides about each host.',
    defaultEnabled: false,
    isEnabled: managesNetwork,
  },
  flag('request_permissions_tool', 'beta', {
    displayName: 'Requests for permissions',
    description: 'The model may ask for more than its sandbox allows, for a turn or a session.',
  }),
  flag('shell_snapshot', 'stable'),
  flag('shell_tool', 'stable'),
  flag('smart_approvals', 'beta', {
    displayName: 'Automatic approvals',
    description: 'Clients offer to let a guardian model answer approval requests.',
  }),
  flag('view_image', 'stable'),
  flag('view_image_tool', 'stable'),
  flag('web_search_request', 'deprecated', {
    displayName: null,
    description: 'Use web_search = "live" instead.',
  }),
];

export function findFeature(name: string): Feature | null {
  return FEATURE_LIST.find((feature) => feature.name === name) ?? null;
}

/**
 * Returns the features as clients see them. One with an invalid value is shown with its default.
 */
export function shownFeatures(config: Config): ExperimentalFeature[] {
  return FEATURE_LIST.map(
    ({ name, stage, displayName, description, defaultEnabled, isEnabled }) => ({
      name,
      stage,
      displayName,
      description,
      announcement: null,
      enabled: errorThrownBy(() => isEnabled(config)) === null ? isEnabled(config) : defaultEnabled,
      defaultEnabled,
    }),
  );
}

type FlagName =
  Extract<SettingName, `features.${string}`> extends `features.${infer Name}` ? Name : never;

function flag(
  name: FlagName,
  stage: Feature['stage'],
  shown: Pick<Described, 'displayName' | 'description'> = { displayName: null, description: null },
): Feature {
  const setting = SETTINGS[`features.${name}`];
  return {
    name,
    stage,
    ...shown,
    defaultEnabled: setting.absent,
    isEnabled: (config) => config.get(`features.${name}`),
  };
}

/** `true`, or a table that does not say otherwise. */
function managesNetwork({ values }: Config): boolean {
  const value = valueAt(values, ['features', 'network_proxy']);
  return value === true || (isTable(value) && value.enabled !== false);
}
