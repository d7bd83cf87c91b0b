import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../base/json-value.ts';
import type {
  ConfigLayer,
  ConfigLayerMetadata,
  ConfigReadResponse,
  Config as WireConfig,
} from '../protocol/generated/types.ts';
import type { Config } from './config.ts';
import { type Layer, layerVersion } from './layers/layer.ts';
import { requiredValue } from './requirements/requirements.ts';
import {
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingValue,
} from './settings/settings.ts';
import { emptyTable, isTable, valueAt } from './toml/config-table.ts';
import { trustDefaults } from './trust/project-trust.ts';

interface ReadConfigOptions {
  includeLayers: boolean;
  /** Whether the client may see experimental fields. */
  experimental: boolean;
}

/**
 * Returns the response to `config/read`: the effective settings, the layer or requirement of each,
 * and the layers from the highest.
 */
export function configReadResponse(
  config: Config,
  { includeLayers, experimental }: ReadConfigOptions,
): ConfigReadResponse {
  const metadata = new Map(
    config.layers.map((layer) => [layer, { name: layer.name, version: layerVersion(layer) }]),
  );
  const { source } = config.requirements;
  const requirements = { name: source.name, version: layerVersion(source) };
  return {
    config: effectiveValues(config, experimental),
    origins: originsOf(config, (layer) => (layer === source ? requirements : metadata.get(layer))),
    layers: includeLayers
      ? [...metadata].toReversed().map(([layer, named]) => wireLayer(layer, named))
      : null,
  };
}

function wireLayer(layer: Layer, named: ConfigLayerMetadata): ConfigLayer {
  return { ...named, config: layer.config, disabledReason: layer.disabledReason };
}

/**
 * Returns the layer of each value that is neither a table nor a list, by its dotted key. The keys
 * of a list's elements are their indexes.
 */
function originsOf(
  config: Config,
  metadata: (layer: Layer) => ConfigLayerMetadata | undefined,
): Record<string, ConfigLayerMetadata> {
  const origins: Record<string, ConfigLayerMetadata> = Object.create(null);
  const add = (value: JsonValue, path: string[], named: ConfigLayerMetadata) => {
    if (typeof value !== 'object' || value === null) origins[path.join('.')] = named;
    else for (const [key, element] of Object.entries(value)) add(element, [...path, key], named);
  };
  const visit = (table: JsonObject, path: string[]) => {
    for (const [key, value] of Object.entries(table)) {
      const own = [...path, key];
      if (isTable(value)) visit(value, own);
      else {
        // A layer sets a list as a whole.
        const layer = originOf(config, own);
        const named = layer === null ? undefined : metadata(layer);
        if (named !== undefined) add(value, own, named);
      }
    }
  };
  visit(config.values, []);
  return origins;
}

/**
 * The layer of a value. The deprecated flag fills in who reviews approval requests
 * (`config-deprecations.ts`), and the trust in a project the approval policy and the sandbox.
 */
function originOf(config: Config, keys: string[]): Layer | null {
  const layer = config.layerOf(keys);
  if (isReplaced(config, keys, layer)) return config.requirements.source;
  if (layer !== null) return layer;
  const key = keys.join('.');
  if (key === 'approvals_reviewer') return config.layerOf(['features', 'guardian_approval']);
  const { entry } = config.trust;
  return entry !== null && key in trustDefaults(config.trust)
    ? config.layerOf(['projects', entry, 'trust_level'])
    : null;
}

/** Whether a requirement counts in place of what the layer sets. */
function isReplaced(
  { requirements, values }: Config,
  keys: string[],
  layer: Layer | null,
): boolean {
  const set = layer === null ? undefined : valueAt(layer.config, keys);
  const [table, feature = ''] = keys;
  const isFeature = table === 'features' && requirements.features?.[feature] !== undefined;
  if (isFeature) return !isDeepStrictEqual(valueAt(values, keys), set);
  const name = SETTING_NAMES.find((one) => one === keys.join('.'));
  const read = set === undefined || name === undefined ? undefined : SETTINGS[name].read(set);
  return (
    name !== undefined &&
    read !== undefined &&
    !isDeepStrictEqual(requiredValue(name, read as never, requirements), read)
  );
}

/**
 * Clients validate the settings they know. An invalid value becomes null, so that it does not
 * invalidate the whole response.
 */
function effectiveValues(config: Config, experimental: boolean): WireConfig {
  const { approvals_reviewer: _reviewer, apps, ...others } = config.values;
  const setting = <N extends SettingName>(name: N): SettingValue<N> | null => {
    const value = valueAt(config.values, name.split('.'));
    const read = value === undefined ? undefined : SETTINGS[name].read(value);
    return read === undefined ? null : requiredValue(name, read, config.requirements);
  };
  const known = {
    analytics: table(others.analytics),
    approval_policy: setting('approval_policy'),
    browser_use: table(others.browser_use),
    client_search_provider: null,
    compact_prompt: setting('compact_prompt'),
    computer_use: table(others.computer_use),
    desktop: table(others.desktop),
    developer_instructions: setting('developer_instructions'),
    forced_chatgpt_workspace_id: textOrTexts(others.forced_chatgpt_workspace_id),
    forced_login_method: oneOf(['chatgpt', 'api'], others.forced_login_method),
    instructions: setting('instructions'),
    model: setting('model'),
    model_auto_compact_token_limit: setting('model_auto_compact_token_limit'),
    model_auto_compact_token_limit_scope: setting('model_auto_compact_token_limit_scope'),
    model_context_window: setting('model_context_window'),
    model_provider: setting('model_provider'),
    model_reasoning_effort: setting('model_reasoning_effort'),
    model_reasoning_summary: setting('model_reasoning_summary'),
    model_verbosity: setting('model_verbosity'),
    review_model: text(others.review_model),
    sandbox_mode: setting('sandbox_mode'),
    sandbox_workspace_write: sandboxWorkspaceWrite(others.sandbox_workspace_write),
    service_tier: setting('service_tier'),
    tools: tools(others.tools),
    web_search: setting('web_search'),
  };
  return experimental
    ? { ...others, ...known, approvals_reviewer: setting('approvals_reviewer'), apps: table(apps) }
    : { ...others, ...known };
}

type Found = JsonValue | undefined;

function table(value: Found): JsonObject | null {
  return isTable(value) ? value : null;
}

function text(value: Found): string | null {
  return typeof value === 'string' ? value : null;
}

function oneOf<T extends string>(words: readonly T[], value: Found): T | null {
  return words.find((word) => word === value) ?? null;
}

function textOrTexts(value: Found): string | string[] | null {
  if (!Array.isArray(value)) return text(value);
  const texts = value.filter((element) => typeof element === 'string');
  return texts.length === value.length ? texts : null;
}

/** Returns the table as it is set, without invalid members, which clients could not read. */
function sandboxWorkspaceWrite(value: Found): JsonObject | null {
  if (!isTable(value)) return null;
  const members = Object.assign(emptyTable(), value);
  for (const name of SETTING_NAMES) {
    const [outer, key] = name.split('.');
    const member = key === undefined ? undefined : members[key];
    if (outer !== 'sandbox_workspace_write' || key === undefined || member === undefined) continue;
    if (SETTINGS[name].read(member) === undefined) delete members[key];
  }
  return members;
}

/**
 * Older files have `tools.web_search = true`. Clients expect a table, so any other value is left
 * out.
 */
function tools(value: Found): JsonObject | null {
  if (!isTable(value)) return null;
  const { web_search: search, ...others } = value;
  return isTable(search) ? value : others;
}
