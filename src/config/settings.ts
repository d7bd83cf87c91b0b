import { isAbsolute } from 'node:path';
import type { JsonValue } from '../base/json.ts';
import type { ApprovalsReviewer, AskForApproval, Personality, ReasoningSummary, SandboxMode } from '../protocol/generated/types.ts';
import { isTable } from './config-table.ts';

/** How a setting is read. */
export interface Setting<T> {
  /** Goes on from "expected": what a good value looks like. */
  expected: string;
  /** The value where nothing is set. */
  absent: T;
  /** Texts of it may hold a key or a password: errors do not quote them. */
  secret?: true;
  /** Undefined: not a good value. */
  read(value: JsonValue): T | undefined;
}

/** The settings that heddle uses, by their dotted keys, and what each gives. */
interface SettingTypes {
  approval_policy: AskForApproval;
  approvals_reviewer: ApprovalsReviewer;
  developer_instructions: string | null;
  'features.goals': boolean;
  'features.guardian_approval': boolean;
  hide_agent_reasoning: boolean;
  instructions: string | null;
  model: string | null;
  model_context_window: number | null;
  model_provider: string | null;
  model_reasoning_effort: string | null;
  model_reasoning_summary: ReasoningSummary | null;
  model_verbosity: 'low' | 'medium' | 'high' | null;
  personality: Personality | null;
  profile: string | null;
  project_doc_fallback_filenames: string[];
  project_doc_max_bytes: number;
  sandbox_mode: SandboxMode;
  'sandbox_workspace_write.exclude_slash_tmp': boolean;
  'sandbox_workspace_write.exclude_tmpdir_env_var': boolean;
  'sandbox_workspace_write.network_access': boolean;
  'sandbox_workspace_write.writable_roots': string[];
  service_tier: string | null;
  show_raw_agent_reasoning: boolean;
  web_search: 'disabled' | 'cached' | 'indexed' | 'live' | null;
}

export type SettingName = keyof SettingTypes;
export type SettingValue<N extends SettingName> = SettingTypes[N];

const PROJECT_DOC_BYTES_DEFAULT = 32 * 1024;

export const SETTINGS: { readonly [N in SettingName]: Setting<SettingTypes[N]> } = {
  approval_policy: {
    expected:
      '"untrusted", "on-failure", "on-request", "never", or a table granular = {sandbox_approval, rules, mcp_elicitations} of true or false',
    absent: 'on-request',
    read: readApprovalPolicy,
  },
  approvals_reviewer: choice(['user', 'auto_review', 'guardian_subagent'], 'user'),
  developer_instructions: nullable(text()),
  'features.goals': { ...flag(), absent: true },
  'features.guardian_approval': flag(),
  hide_agent_reasoning: flag(),
  instructions: nullable(text()),
  model: nullable(name()),
  model_context_window: nullable(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  model_provider: nullable(name()),
  model_reasoning_effort: nullable(name()),
  model_reasoning_summary: nullable(choice(['auto', 'concise', 'detailed', 'none'], 'auto')),
  model_verbosity: nullable(choice(['low', 'medium', 'high'], 'medium')),
  personality: nullable(choice(['none', 'friendly', 'pragmatic'], 'none')),
  profile: nullable(name()),
  project_doc_fallback_filenames: list('file names, without folders', (element) => !/[/\\]|^\.{0,2}$/.test(element)),
  project_doc_max_bytes: { ...wholeNumber(0, 1024 * 1024), absent: PROJECT_DOC_BYTES_DEFAULT },
  sandbox_mode: choice(['read-only', 'workspace-write', 'danger-full-access'], 'read-only'),
  'sandbox_workspace_write.exclude_slash_tmp': flag(),
  'sandbox_workspace_write.exclude_tmpdir_env_var': flag(),
  'sandbox_workspace_write.network_access': flag(),
  'sandbox_workspace_write.writable_roots': list('absolute paths', isAbsolute),
  service_tier: nullable(name()),
  show_raw_agent_reasoning: flag(),
  web_search: nullable(choice(['disabled', 'cached', 'indexed', 'live'], 'disabled')),
};

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export function nullable<T>(setting: Setting<T>): Setting<T | null> {
  return { ...setting, absent: null };
}

function text(): Setting<string> {
  return { expected: 'a text', absent: '', read: (value) => (typeof value === 'string' ? value : undefined) };
}

/** A text that is not blank. */
export function name(): Setting<string> {
  const read = (value: JsonValue) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);
  return { expected: 'a text that is not empty', absent: '', read };
}

function flag(): Setting<boolean> {
  return { expected: 'true or false', absent: false, read: (value) => (typeof value === 'boolean' ? value : undefined) };
}

/** A whole number from `min`; one above `max` counts as `max`. */
export function wholeNumber(min: number, max: number): Setting<number> {
  const read = (value: JsonValue) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min ? Math.min(value, max) : undefined;
  return { expected: `a whole number, ${min} or more`, absent: min, read };
}

function choice<T extends string>(words: readonly T[], absent: T): Setting<T> {
  return {
    expected: `one of ${words.map((word) => `"${word}"`).join(', ')}`,
    absent,
    read: (value) => words.find((word) => word === value),
  };
}

function list(of: string, accepts: (element: string) => boolean): Setting<string[]> {
  const read = (value: JsonValue) => {
    if (!Array.isArray(value)) return undefined;
    const elements = value.filter((element) => typeof element === 'string');
    return elements.length === value.length && elements.every(accepts) ? elements : undefined;
  };
  return { expected: `a list of ${of}`, absent: [], read };
}

function readApprovalPolicy(value: JsonValue): AskForApproval | undefined {
  if (!isTable(value)) return (['untrusted', 'on-failure', 'on-request', 'never'] as const).find((word) => word === value);
  const { granular, ...others } = value;
  if (!isTable(granular) || Object.keys(others).length > 0) return undefined;
  const { sandbox_approval, rules, mcp_elicitations, request_permissions = false, skill_approval = false } = granular;
  if (typeof sandbox_approval !== 'boolean' || typeof rules !== 'boolean' || typeof mcp_elicitations !== 'boolean') return undefined;
  if (typeof request_permissions !== 'boolean' || typeof skill_approval !== 'boolean') return undefined;
  return { granular: { sandbox_approval, rules, mcp_elicitations, request_permissions, skill_approval } };
}
