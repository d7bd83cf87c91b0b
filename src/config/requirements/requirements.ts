import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type { ApprovalsReviewer, AskForApproval, SandboxMode } from '../../protocol/generated/types.ts';
import { ConfigError } from '../config-error.ts';
import { isTable } from '../layers/config-table.ts';
import { emptyLayer, type Layer } from '../layers/layer.ts';
import { SETTINGS, type SettingName, type SettingValue } from '../settings.ts';

type WebSearchMode = NonNullable<SettingValue<'web_search'>>;

/** What the administrator of the machine allows. Null: everything. */
export interface Requirements {
  approvalPolicies: readonly AskForApproval[] | null;
  reviewers: readonly ApprovalsReviewer[] | null;
  sandboxModes: readonly SandboxMode[] | null;
  /** Always with `disabled`. */
  webSearchModes: readonly WebSearchMode[] | null;
  /** Whether these features are on or off, by their names. */
  features: Readonly<Record<string, boolean>> | null;
  /** The file, and keys in it that heddle does not enforce. */
  source: Layer;
  unknown: readonly string[];
}

export const NO_REQUIREMENTS: Requirements = {
  approvalPolicies: null,
  reviewers: null,
  sandboxModes: null,
  webSearchModes: null,
  features: null,
  source: emptyLayer('', { type: 'system', file: '' }),
  unknown: [],
};

/** The lists of a requirements.toml, and the setting that each limits. */
const LISTS = {
  allowed_approval_policies: 'approval_policy',
  allowed_approvals_reviewers: 'approvals_reviewer',
  allowed_sandbox_modes: 'sandbox_mode',
  allowed_web_search_modes: 'web_search',
} as const satisfies Record<string, SettingName>;

/** Reads the limits of a requirements.toml. Throws a ConfigError if one is invalid: a limit must not be lost. */
export function readRequirements(source: Layer): Requirements {
  const { config } = source;
  const modes = readList(source, 'allowed_web_search_modes');
  return {
    approvalPolicies: readList(source, 'allowed_approval_policies'),
    reviewers: readList(source, 'allowed_approvals_reviewers'),
    sandboxModes: readList(source, 'allowed_sandbox_modes'),
    webSearchModes: modes === null ? null : [...new Set([...modes.filter((mode) => mode !== null), 'disabled' as const])],
    features: readFeatures(source, config.features),
    source,
    unknown: Object.keys(config).filter((key) => key !== 'features' && !Object.hasOwn(LISTS, key)),
  };
}

function readList<Key extends keyof typeof LISTS>(source: Layer, key: Key): SettingValue<(typeof LISTS)[Key]>[] | null {
  const value = source.config[key];
  if (value === undefined) return null;
  const { expected, read } = SETTINGS[LISTS[key]];
  const elements = Array.isArray(value) ? value.map((element) => read(element)) : [];
  if (elements.length === 0 || elements.includes(undefined)) {
    throw new ConfigError(`${key}: expected a list whose elements are each ${expected}`, source.locate([key]));
  }
  return elements as SettingValue<(typeof LISTS)[Key]>[];
}

function readFeatures(source: Layer, value: JsonValue | undefined): Record<string, boolean> | null {
  if (value === undefined) return null;
  const features = Object.entries(isTable(value) ? value : ({ features: null } satisfies JsonObject));
  if (features.every((entry): entry is [string, boolean] => typeof entry[1] === 'boolean')) return Object.fromEntries(features);
  throw new ConfigError('features: expected a table of features, each true or false', source.locate(['features']));
}

/** Returns the value if it is allowed, else the first one that is. */
export function allowedValue<T>(value: T, allowed: readonly T[] | null): T {
  const [first = value] = allowed ?? [];
  return isAllowed(value, allowed) ? value : first;
}

export function isAllowed<T>(value: T, allowed: readonly T[] | null): boolean {
  return allowed === null || allowed.some((one) => isDeepStrictEqual(one, value));
}

/** The allowed value of a setting. */
export function requiredValue<N extends SettingName>(name: N, value: SettingValue<N>, required: Requirements): SettingValue<N> {
  const { approvalPolicies, reviewers, sandboxModes, webSearchModes, features } = required;
  const lists: Partial<Record<SettingName, readonly unknown[] | null>> = {
    approval_policy: approvalPolicies,
    approvals_reviewer: reviewers,
    sandbox_mode: sandboxModes,
  };
  const feature = name.startsWith('features.') ? features?.[name.slice('features.'.length)] : undefined;
  if (feature !== undefined) return feature as SettingValue<N>;
  // Without a mode, that of the provider counts: `webSearch` limits it.
  if (name === 'web_search' && value === null) return value;
  if (name === 'web_search' && webSearchModes !== null) return allowedValue<unknown>(value, webSearchModes) as SettingValue<N>;
  return allowedValue<unknown>(value, lists[name] ?? null) as SettingValue<N>;
}
