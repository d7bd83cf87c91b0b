import type { JsonObject } from '../../base/json-value.ts';
import type { Config } from '../config.ts';
import { emptyTable, isTable, valueAt } from '../layers/config-table.ts';
import { SETTINGS, type SettingName, type SettingValue } from '../settings.ts';

/** Whether the value of a role allows no more than that of the thread. */
type AsStrict<T> = (roles: T, own: T) => boolean;

/**
 * The settings that decide which tools an agent has and what its commands may do, with their order of strictness. The sandbox, the
 * approvals and the reviewer are not here: `confinedSettings` narrows them.
 */
const ORDERS: { readonly [N in SettingName]?: AsStrict<SettingValue<N>> } = {
  allow_login_shell: onlyOff,
  'features.shell_tool': onlyOff,
  'features.view_image_tool': onlyOff,
  'sandbox_workspace_write.unix_sockets': onlyOff,
  'sandbox_workspace_write.unprotected_folders': (roles, own) => roles.every((folder) => own.includes(folder)),
  'shell_environment_policy.exclude': (roles, own) => own.every((name) => roles.includes(name)),
  'shell_environment_policy.ignore_default_excludes': onlyOff,
  'shell_environment_policy.include_only': (roles, own) =>
    own.length === 0 || (roles.length > 0 && roles.every((name) => own.includes(name))),
  'shell_environment_policy.inherit': strictestFirst(['none', 'core', 'all']),
  'tools.view_image': onlyOff,
  web_search: strictestFirst(['disabled', null, 'cached', 'indexed', 'live']),
};

const NETWORK_PROXY = ['features', 'network_proxy'];

/**
 * The configuration of a role without the settings with which its agents could do more than the thread, whose configuration is `own`.
 * `dropped`: their keys. Throws a ConfigError if a setting of the thread is invalid.
 */
export function confinedRole(config: JsonObject, own: Config): { config: JsonObject; dropped: string[][] } {
  const names = Object.keys(ORDERS) as SettingName[];
  const dropped = [
    ...names.filter((name) => !isAsStrict(name, config, own)).map((name) => name.split('.')),
    // It says how the guardian judges.
    ...(config.auto_review === undefined ? [] : [['auto_review']]),
    ...(managesAsMuch(config, own) ? [] : [NETWORK_PROXY]),
    // A role can add profiles, but not change the one that limits the thread.
    ...keysAt(config, 'permissions').flatMap((id) => (keysAt(own.values, 'permissions').includes(id) ? [['permissions', id]] : [])),
  ];
  return { config: dropped.reduce(without, config), dropped };
}

function isAsStrict<N extends SettingName>(name: N, config: JsonObject, own: Config): boolean {
  const value = valueAt(config, name.split('.'));
  const wanted = value === undefined ? undefined : SETTINGS[name].read(value);
  return wanted === undefined || ORDERS[name]?.(wanted, own.get(name)) === true;
}

/** Whether the network is managed at least as much. A table of the role is not: its hosts would be added to those of the thread. */
function managesAsMuch(config: JsonObject, { values }: Config): boolean {
  const wanted = valueAt(config, NETWORK_PROXY);
  const own = valueAt(values, NETWORK_PROXY) ?? false;
  return wanted === undefined || (wanted === true && own === false) || (wanted === false && own === false);
}

function keysAt(table: JsonObject, key: string): string[] {
  const value = table[key];
  return isTable(value) ? Object.keys(value) : [];
}

/** The table without the key at this path. */
function without(table: JsonObject, [key = '', ...rest]: readonly string[]): JsonObject {
  const { [key]: value, ...others } = table;
  const inner = rest.length > 0 && isTable(value) ? { [key]: without(value, rest) } : {};
  return Object.assign(emptyTable(), others, inner);
}

function onlyOff(roles: boolean, own: boolean): boolean {
  return own || !roles;
}

function strictestFirst<T>(values: readonly T[]): AsStrict<T> {
  return (roles, own) => values.indexOf(roles) <= values.indexOf(own);
}
