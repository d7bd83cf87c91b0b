import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../base/json-value.ts';
import type {
  ApprovalsReviewer,
  AskForApproval,
  SandboxMode,
} from '../../protocol/generated/types.ts';
import { emptyLayer, type Layer } from '../layers/layer.ts';
import { SETTINGS, type SettingName, type SettingValue } from '../settings/settings.ts';
import { WEB_SEARCH_MODES } from '../settings/web-search-table.ts';
import { asksAsMuch } from '../strictness/asks-as-much.ts';
import {
  type AsStrict,
  isReviewerAsStrict,
  isSandboxAsStrict,
} from '../strictness/strictest-first.ts';
import { ConfigError } from '../toml/config-error.ts';
import { emptyTable, isTable, mergeTables } from '../toml/config-table.ts';

type ListName = keyof typeof REQUIREMENT_LISTS;
type WebSearchMode = NonNullable<SettingValue<'web_search'>>;

/** The limits of the administrator of the machine. Null: none. */
export interface Requirements {
  approvalPolicies: readonly AskForApproval[] | null;
  reviewers: readonly ApprovalsReviewer[] | null;
  sandboxModes: readonly SandboxMode[] | null;
  /** Always with `disabled`. */
  webSearchModes: readonly WebSearchMode[] | null;
  /** Whether these features are on or off, by their names. */
  features: Readonly<Record<string, boolean>> | null;
  /**
   * The paths and patterns that no model and no command of one may read, as the file has them. If
   * there are any, every mode has a sandbox.
   */
  deniedReads: readonly string[];
  /**
   * The most names below the first folder of a pattern that the search for files goes through.
   * Null: all.
   */
  deniedDepthMax: number | null;
  /** The file. */
  source: Layer;
}

export const NO_REQUIREMENTS: Requirements = {
  approvalPolicies: null,
  reviewers: null,
  sandboxModes: null,
  webSearchModes: null,
  features: null,
  deniedReads: [],
  deniedDepthMax: null,
  source: emptyLayer('', { type: 'system', file: '' }),
};

/** The lists of a requirements.toml, and the setting that each limits. */
export const REQUIREMENT_LISTS = {
  allowed_approval_policies: 'approval_policy',
  allowed_approvals_reviewers: 'approvals_reviewer',
  allowed_sandbox_modes: 'sandbox_mode',
  allowed_web_search_modes: 'web_search',
} as const satisfies Record<string, SettingName>;

/** The keys of `[permissions.filesystem]` that heddle enforces. */
const DEPTH = 'glob_scan_max_depth';
export const DENIED_KEYS: readonly string[] = ['deny_read', DEPTH];

const DENIED_MAX = 200;
const SANDBOX_MODES: readonly SandboxMode[] = [
  'read-only',
  'workspace-write',
  'danger-full-access',
];

/**
 * Reads the limits of a requirements.toml. Throws a ConfigError if one is invalid: a limit must not
 * be lost.
 */
export function readRequirements(source: Layer): Requirements {
  const { config } = source;
  const modes = readList(source, 'allowed_web_search_modes');
  const denied = readDenied(source);
  return {
    approvalPolicies: readList(source, 'allowed_approval_policies'),
    reviewers: withBothNames(readList(source, 'allowed_approvals_reviewers')),
    sandboxModes: modesWithSandbox(source, readList(source, 'allowed_sandbox_modes'), denied),
    webSearchModes:
      modes === null
        ? null
        : [...new Set([...modes.filter((mode) => mode !== null), 'disabled' as const])],
    features: readFeatures(source, config.features),
    ...denied,
    source,
  };
}

function readList<Key extends ListName>(
  source: Layer,
  key: Key,
): SettingValue<(typeof REQUIREMENT_LISTS)[Key]>[] | null {
  const value = source.config[key];
  if (value === undefined) return null;
  const { expected, read } = SETTINGS[REQUIREMENT_LISTS[key]];
  const elements = Array.isArray(value) ? value.map((element) => read(element)) : [];
  if (elements.length === 0 || elements.includes(undefined)) {
    throw new ConfigError(
      `${key}: expected a list whose elements are each ${expected}`,
      source.locate([key]),
    );
  }
  return elements as SettingValue<(typeof REQUIREMENT_LISTS)[Key]>[];
}

type Denied = Pick<Requirements, 'deniedReads' | 'deniedDepthMax'>;

/** `[permissions.filesystem]`. The syntax of the patterns is checked where they are used. */
function readDenied(source: Layer): Denied {
  const permissions = source.config.permissions ?? emptyTable();
  const files = isTable(permissions) ? (permissions.filesystem ?? emptyTable()) : null;
  if (!isTable(files))
    throw new ConfigError(
      'permissions: expected a table with a table `filesystem`',
      source.locate(['permissions']),
    );
  const { deny_read: paths = [], [DEPTH]: depth = null } = files;
  const at = ['permissions', 'filesystem'];
  const texts = Array.isArray(paths)
    ? paths.filter((path) => typeof path === 'string' && path !== '')
    : null;
  if (!Array.isArray(paths) || texts?.length !== paths.length || paths.length > DENIED_MAX) {
    const expected = `permissions.filesystem.deny_read: expected a list of at most ${DENIED_MAX} paths and patterns`;
    throw new ConfigError(expected, source.locate([...at, 'deny_read']));
  }
  if (depth !== null && !(typeof depth === 'number' && Number.isSafeInteger(depth) && depth > 0))
    throw new ConfigError(
      `permissions.filesystem.${DEPTH}: expected a whole number above 0`,
      source.locate([...at, DEPTH]),
    );
  return { deniedReads: texts as string[], deniedDepthMax: depth };
}

/** Files can be hidden only in a sandbox. */
function modesWithSandbox(
  source: Layer,
  modes: readonly SandboxMode[] | null,
  { deniedReads }: Denied,
): readonly SandboxMode[] | null {
  if (deniedReads.length === 0) return modes;
  const left = (modes ?? SANDBOX_MODES).filter((mode) => mode !== 'danger-full-access');
  if (left.length > 0) return left;
  throw new ConfigError(
    'allowed_sandbox_modes: with permissions.filesystem.deny_read, expected "read-only" or "workspace-write"',
    source.locate(['allowed_sandbox_modes']),
  );
}

/** The guardian has two names. */
function withBothNames(
  reviewers: readonly ApprovalsReviewer[] | null,
): readonly ApprovalsReviewer[] | null {
  const names = ['auto_review', 'guardian_subagent'] as const;
  return reviewers?.some((name) => name !== 'user')
    ? [...new Set([...reviewers, ...names])]
    : reviewers;
}

function readFeatures(source: Layer, value: JsonValue | undefined): Record<string, boolean> | null {
  if (value === undefined) return null;
  const features = Object.entries(
    isTable(value) ? value : ({ features: null } satisfies JsonObject),
  );
  if (features.every((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'))
    return Object.fromEntries(features);
  throw new ConfigError(
    'features: expected a table of features, each true or false',
    source.locate(['features']),
  );
}

/**
 * Returns the value if it is allowed. Otherwise returns the first allowed one that is as strict; if
 * there is none, the first one that no other allowed one is stricter than.
 */
function allowedValue<T>(value: T, allowed: readonly T[] | null, isAsStrict: AsStrict<T>): T {
  if (allowed === null || isAllowed(value, allowed)) return value;
  const isStrictest = (one: T) =>
    allowed.every((other) => isAsStrict(one, other) || !isAsStrict(other, one));
  return allowed.find((one) => isAsStrict(one, value)) ?? allowed.find(isStrictest) ?? value;
}

/** Returns the widest allowed mode of web search that is not wider than the wanted one. */
export function allowedSearch(
  wanted: WebSearchMode,
  allowed: readonly WebSearchMode[] | null,
): WebSearchMode {
  const asNarrow = WEB_SEARCH_MODES.slice(0, WEB_SEARCH_MODES.indexOf(wanted) + 1);
  return asNarrow.findLast((mode) => isAllowed(mode, allowed)) ?? 'disabled';
}

export function isAllowed<T>(value: T, allowed: readonly T[] | null): boolean {
  return allowed === null || allowed.some((one) => isDeepStrictEqual(one, value));
}

/**
 * The settings of all layers with the features that the administrator requires, so that every
 * reader gets those. The table of a feature keeps its limits. A `features` that is not a table
 * stays, since it refuses all threads.
 */
export function withRequiredFeatures(
  values: JsonObject,
  { features }: Pick<Requirements, 'features'>,
): JsonObject {
  const set = values.features ?? emptyTable();
  if (features === null || !isTable(set)) return values;
  const required = Object.entries(features).map(([name, enabled]) => {
    const own = set[name];
    return [name, enabled && isTable(own) ? mergeTables(own, { enabled }) : enabled] as const;
  });
  return mergeTables(values, {
    features: Object.assign(emptyTable(), set, Object.fromEntries(required)),
  });
}

/** The allowed value of a setting. Of features, the values of all layers have it. */
export function requiredValue<N extends SettingName>(
  name: N,
  value: SettingValue<N>,
  required: Requirements,
): SettingValue<N> {
  switch (name) {
    case 'approval_policy':
      return allowedPolicy(value as AskForApproval, required) as SettingValue<N>;
    case 'approvals_reviewer':
      return allowedReviewer(value as ApprovalsReviewer, required) as SettingValue<N>;
    case 'sandbox_mode':
      return allowedSandboxMode(value as SandboxMode, required) as SettingValue<N>;
    case 'web_search':
      // Without a mode, that of the provider counts: `webSearch` limits it.
      return value === null
        ? value
        : (allowedSearch(value as WebSearchMode, required.webSearchModes) as SettingValue<N>);
    default:
      return value;
  }
}

export function allowedPolicy(
  policy: AskForApproval,
  { approvalPolicies }: Requirements,
): AskForApproval {
  return allowedValue(policy, approvalPolicies, asksAsMuch);
}

export function allowedReviewer(
  reviewer: ApprovalsReviewer,
  { reviewers }: Requirements,
): ApprovalsReviewer {
  return allowedValue(reviewer, reviewers, isReviewerAsStrict);
}

export function allowedSandboxMode(mode: SandboxMode, { sandboxModes }: Requirements): SandboxMode {
  return allowedValue(mode, sandboxModes, isSandboxAsStrict);
}
