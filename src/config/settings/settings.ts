import { isAbsolute } from 'node:path';
import type { JsonValue } from '../../base/json-value.ts';
import type {
  ApprovalsReviewer,
  AskForApproval,
  Personality,
  ReasoningSummary,
  SandboxMode,
} from '../../protocol/generated/types.ts';
import { APPROVAL_POLICIES } from '../strictness/approval-policies.ts';
import { SANDBOX_MODES } from '../strictness/sandbox-modes.ts';
import { isTable } from '../toml/config-table.ts';
import {
  choice,
  flag,
  HTTP_URL,
  list,
  name,
  nullable,
  type Setting,
  text,
  wholeNumber,
} from './setting.ts';
import { SKILL_SWITCHES, type SkillSwitch } from './skill-switches.ts';
import { WEB_SEARCH_MODES, WEB_SEARCH_TABLE, type WebSearchTable } from './web-search-table.ts';

/** The settings that heddle uses, by dotted key, with the types of their values. */
interface SettingTypes {
  'agents.default_subagent_model': string | null;
  'agents.default_subagent_reasoning_effort': string | null;
  'agents.enabled': boolean;
  'agents.max_concurrent_threads_per_session': number | null;
  'agents.max_depth': number;
  'agents.max_threads': number;
  allow_login_shell: boolean;
  approval_policy: AskForApproval;
  approval_timeout_ms: number | null;
  client_tool_timeout_ms: number | null;
  approvals_reviewer: ApprovalsReviewer;
  'auto_review.model': string | null;
  'auto_review.model_provider': string | null;
  'auto_review.model_reasoning_effort': string | null;
  'auto_review.policy': string | null;
  'auto_review.timeout_ms': number;
  background_terminal_max_timeout: number;
  cli_auth_credentials_store: 'auto' | 'ephemeral' | 'file' | 'keyring';
  compact_prompt: string | null;
  default_permissions: string | null;
  developer_instructions: string | null;
  'features.default_mode_request_user_input': boolean;
  'features.goals': boolean;
  'features.multi_agent': boolean;
  'features.guardian_approval': boolean;
  'features.hooks': boolean;
  'features.shell_snapshot': boolean;
  'features.shell_tool': boolean;
  'features.smart_approvals': boolean;
  'features.exec_permission_approvals': boolean;
  'features.request_permissions_tool': boolean;
  'features.view_image': boolean;
  'features.view_image_tool': boolean;
  'features.web_search_request': boolean;
  hide_agent_reasoning: boolean;
  instructions: string | null;
  model: string | null;
  model_auto_compact_token_limit: number | null;
  model_auto_compact_token_limit_scope: 'total' | 'body_after_prefix';
  model_context_window: number | null;
  model_provider: string | null;
  model_reasoning_effort: string | null;
  model_reasoning_summary: ReasoningSummary | null;
  model_verbosity: 'low' | 'medium' | 'high' | null;
  notify: string[] | null;
  openai_base_url: string | null;
  personality: Personality | null;
  plan_mode_reasoning_effort: string | null;
  profile: string | null;
  project_doc_fallback_filenames: string[];
  project_doc_max_bytes: number;
  review_model: string | null;
  sandbox_mode: SandboxMode;
  'sandbox_workspace_write.exclude_slash_tmp': boolean;
  'sandbox_workspace_write.exclude_tmpdir_env_var': boolean;
  'sandbox_workspace_write.network_access': boolean;
  'sandbox_workspace_write.unix_sockets': boolean;
  'sandbox_workspace_write.unprotected_folders': string[];
  'sandbox_workspace_write.writable_roots': string[];
  service_tier: string | null;
  'shell_environment_policy.exclude': string[];
  'shell_environment_policy.ignore_default_excludes': boolean;
  'shell_environment_policy.include_only': string[];
  'shell_environment_policy.inherit': 'all' | 'core' | 'none';
  'shell_environment_policy.set': Record<string, string>;
  show_raw_agent_reasoning: boolean;
  'skills.config': readonly SkillSwitch[];
  tool_output_token_limit: number;
  'tools.view_image': boolean;
  'tools.web_search': WebSearchTable;
  web_search: (typeof WEB_SEARCH_MODES)[number] | null;
}

export type SettingName = keyof SettingTypes;
export type SettingValue<N extends SettingName> = SettingTypes[N];

/** The longest delay of a timer in Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** How long the guardian model may take for a review. */
const REVIEW_MS_DEFAULT = 90_000;
const PROJECT_DOC_BYTES_DEFAULT = 32 * 1024;

/** How long the model may wait for a background command in one call, without writing to it. */
const BACKGROUND_WAIT_MS_DEFAULT = 5 * 60 * 1000;
const BACKGROUND_WAIT_MS_MAX = 60 * 60 * 1000;
/** The most tokens of one command's output that the model may ask for. */
const OUTPUT_TOKENS_DEFAULT = 10_000;

/** How many agents of a session may run at a time, and how deep they may be nested. */
const AGENTS_DEFAULT = 6;
const AGENTS_MAX = 64;
const AGENT_DEPTH_MAX = 16;

export const SETTINGS: { readonly [N in SettingName]: Setting<SettingTypes[N]> } = {
  'agents.default_subagent_model': nullable(name()),
  'agents.default_subagent_reasoning_effort': nullable(name()),
  'agents.enabled': { ...flag(), absent: true },
  'agents.max_concurrent_threads_per_session': nullable(wholeNumber(1, AGENTS_MAX)),
  'agents.max_depth': { ...wholeNumber(0, AGENT_DEPTH_MAX), absent: 1 },
  'agents.max_threads': { ...wholeNumber(1, AGENTS_MAX), absent: AGENTS_DEFAULT },
  allow_login_shell: { ...flag(), absent: true },
  approval_policy: {
    expected:
      '"untrusted", "on-failure", "on-request", "never", or {granular = {sandbox_approval, rules, mcp_elicitations, request_permissions, ' +
      'skill_approval}} with true or false for each, and the last two optional',
    absent: 'on-request',
    read: readApprovalPolicy,
  },
  approval_timeout_ms: nullable(wholeNumber(1, TIMER_MS_MAX)),
  client_tool_timeout_ms: nullable(wholeNumber(1, TIMER_MS_MAX)),
  approvals_reviewer: choice(['user', 'auto_review', 'guardian_subagent'], 'user'),
  'auto_review.model': nullable(name()),
  'auto_review.model_provider': nullable(name()),
  'auto_review.model_reasoning_effort': nullable(name()),
  'auto_review.policy': nullable(text()),
  'auto_review.timeout_ms': { ...wholeNumber(1, TIMER_MS_MAX), absent: REVIEW_MS_DEFAULT },
  background_terminal_max_timeout: {
    ...wholeNumber(1, BACKGROUND_WAIT_MS_MAX),
    absent: BACKGROUND_WAIT_MS_DEFAULT,
  },
  cli_auth_credentials_store: choice(['auto', 'ephemeral', 'file', 'keyring'], 'file'),
  compact_prompt: nullable(name()),
  default_permissions: nullable(name()),
  developer_instructions: nullable(text()),
  'features.default_mode_request_user_input': flag(),
  'features.exec_permission_approvals': flag(),
  'features.goals': { ...flag(), absent: true },
  'features.guardian_approval': flag(),
  'features.hooks': { ...flag(), absent: true },
  'features.multi_agent': { ...flag(), absent: true },
  'features.shell_snapshot': { ...flag(), absent: true },
  'features.shell_tool': { ...flag(), absent: true },
  'features.smart_approvals': flag(),
  'features.request_permissions_tool': flag(),
  'features.view_image': { ...flag(), absent: true },
  'features.view_image_tool': { ...flag(), absent: true },
  'features.web_search_request': flag(),
  hide_agent_reasoning: flag(),
  instructions: nullable(text()),
  model: nullable(name()),
  model_auto_compact_token_limit: nullable(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  model_auto_compact_token_limit_scope: choice(['total', 'body_after_prefix'], 'total'),
  model_context_window: nullable(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  model_provider: nullable(name()),
  model_reasoning_effort: nullable(name()),
  plan_mode_reasoning_effort: nullable(name()),
  model_reasoning_summary: nullable(choice(['auto', 'concise', 'detailed', 'none'], 'auto')),
  model_verbosity: nullable(choice(['low', 'medium', 'high'], 'medium')),
  notify: nullable({
    ...list('strings: a program and its arguments', () => true),
    read: readProgram,
  }),
  openai_base_url: nullable(HTTP_URL),
  personality: nullable(choice(['none', 'friendly', 'pragmatic'], 'none')),
  profile: nullable(name()),
  project_doc_fallback_filenames: list(
    'file names without folders',
    (element) => !/[/\\]|^\.{0,2}$/.test(element),
  ),
  project_doc_max_bytes: { ...wholeNumber(0, 1024 * 1024), absent: PROJECT_DOC_BYTES_DEFAULT },
  review_model: nullable(name()),
  sandbox_mode: choice(SANDBOX_MODES, 'read-only'),
  'sandbox_workspace_write.exclude_slash_tmp': flag(),
  'sandbox_workspace_write.exclude_tmpdir_env_var': flag(),
  'sandbox_workspace_write.network_access': flag(),
  'sandbox_workspace_write.unix_sockets': flag(),
  'sandbox_workspace_write.unprotected_folders': list('absolute paths', isAbsolute),
  'sandbox_workspace_write.writable_roots': list('absolute paths', isAbsolute),
  service_tier: nullable(name()),
  'shell_environment_policy.exclude': list(
    'variable names, where * matches any characters',
    isNotBlank,
  ),
  'shell_environment_policy.ignore_default_excludes': flag(),
  'shell_environment_policy.include_only': list(
    'variable names, where * matches any characters',
    isNotBlank,
  ),
  'shell_environment_policy.inherit': choice(['all', 'core', 'none'], 'all'),
  'shell_environment_policy.set': {
    expected: 'a table of variable names and string values',
    absent: {},
    secret: true,
    read: readVariables,
  },
  show_raw_agent_reasoning: flag(),
  'skills.config': SKILL_SWITCHES,
  tool_output_token_limit: { ...wholeNumber(1, 1_000_000), absent: OUTPUT_TOKENS_DEFAULT },
  'tools.view_image': { ...flag(), absent: true },
  'tools.web_search': WEB_SEARCH_TABLE,
  web_search: nullable(choice(WEB_SEARCH_MODES, 'disabled')),
};

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Whether `[agents]` has a setting of this name. Every other table in it is a role. */
export function isAgentSetting(name: string): boolean {
  return Object.hasOwn(SETTINGS, `agents.${name}`);
}

/** The system cannot pass a NUL in an argument. */
function readProgram(value: JsonValue): string[] | undefined {
  if (!Array.isArray(value) || value[0] === '') return undefined;
  const words = value.filter(
    (element) => typeof element === 'string' && !element.includes('\0'),
  ) as string[];
  return words.length === value.length && words.length > 0 ? words : undefined;
}

function isNotBlank(text: string): boolean {
  return text.trim() !== '';
}

/** The system cannot pass a NUL in a variable, or `=` in its name. */
function readVariables(value: JsonValue): Record<string, string> | undefined {
  if (!isTable(value)) return undefined;
  const variables = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const isGood = ([name, text]: [string, string]) => /^[^=\0]+$/.test(name) && !text.includes('\0');
  return variables.length === Object.keys(value).length && variables.every(isGood)
    ? Object.fromEntries(variables)
    : undefined;
}

function readApprovalPolicy(value: JsonValue): AskForApproval | undefined {
  if (!isTable(value)) return APPROVAL_POLICIES.find((word) => word === value);
  const { granular, ...others } = value;
  if (!isTable(granular) || Object.keys(others).length > 0) return undefined;
  const {
    sandbox_approval,
    rules,
    mcp_elicitations,
    request_permissions = false,
    skill_approval = false,
  } = granular;
  if (
    typeof sandbox_approval !== 'boolean' ||
    typeof rules !== 'boolean' ||
    typeof mcp_elicitations !== 'boolean'
  )
    return undefined;
  if (typeof request_permissions !== 'boolean' || typeof skill_approval !== 'boolean')
    return undefined;
  return {
    granular: { sandbox_approval, rules, mcp_elicitations, request_permissions, skill_approval },
  };
}
