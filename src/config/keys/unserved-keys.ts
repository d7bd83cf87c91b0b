import type { JsonValue } from '../../base/json-value.ts';
import { isTable } from '../toml/config-table.ts';

/**
 * The top-level keys of other programs that share config.toml, which heddle reads and does not use.
 */
export const UNSERVED_KEYS: ReadonlySet<string> = new Set(
  `
  allow_symlinked_codex_home analytics apps audio browser_use chatgpt_base_url check_for_update_on_startup client_search_provider cloud
  commit_attribution computer_use daybreak disable_paste_burst experimental_compact_prompt_file experimental_instructions_file
  experimental_realtime_start_instructions experimental_realtime_ws_backend_prompt experimental_realtime_ws_base_url
  experimental_realtime_ws_model experimental_thread_store experimental_use_freeform_apply_patch experimental_use_unified_exec_tool
  feedback file_opener forced_chatgpt_workspace_id forced_login_method ghost_snapshot history include_apply_patch_tool
  include_environment_context js_repl_node_module_dirs js_repl_node_path log_dir marketplaces memories
  model_catalog_json model_instructions_file model_max_output_tokens
  model_post_turn_compact_threshold_percent model_supports_reasoning_summaries orchestrator oss_provider otel
  plugins preferred_auth_method project_root_markers realtime responses_originator sqlite_home
  suppress_unstable_features_warning thread_unload_delay_secs tool_suggest tui windows zsh_path
  `
    .trim()
    .split(/\s+/),
);

/**
 * The keys that heddle uses besides settings and tables, and the state that clients keep in the
 * file for themselves.
 */
export const OTHER_KEYS: readonly string[] = ['desktop', 'notice'];

/** The features of other programs that heddle always has: they cannot be switched off. */
export const ALWAYS_ON_FEATURES: ReadonlySet<string> = new Set(
  `
  apply_patch_freeform apply_patch_streaming_events collaboration_modes content_item_kinds item_ids personality
  reasoning_effort_override request_rule sqlite steer tool_call_mcp_elicitation tool_search unified_exec unified_exec_tty write_stdin_approval
  `
    .trim()
    .split(/\s+/),
);

/** The features of other programs that heddle does not have. */
export const UNSERVED_FEATURES: ReadonlySet<string> = new Set(
  `
  analytics_plan_history api_key_cyber_access_programs api_key_model_discovery apps apps_mcp_path_override artifact async_compaction
  auth_elicitation background_paginated_rollout_migration bedrock_setup_wizard browser_use browser_use_external chronicle
  cli_daybreak code_mode code_mode_host code_mode_only codex_git_commit compaction_image_budget computer_use concurrent_reasoning_summaries
  context_management credential_masking current_time_reminder daemon_auto_start deferred_executor elevated_windows_sandbox
  enable_experimental_windows_sandbox enable_fanout enable_mcp_apps enable_request_compression executor_capability_discovery
  experimental_windows_sandbox external_migration fast_mode gateway_setup_wizard gcp_setup_wizard ghost_commit guardianv2 guardianv3
  image_detail_original image_generation in_app_browser in_app_chat in_app_voice incremental_tools js_repl local_thread_store_compression
  login_shell_package_path mcp_2026_07_28 mcp_connection_sharing mcp_lazy_stdio_startup mcp_oauth_refresh_coordination memories mentions_v2
  multi_agent_mode multi_agent_v2 plugin_hooks plugin_sharing plugins powershell_shell_version powershell_utf8 prefer_mxc
  prevent_idle_sleep psp realtime_conversation remote_compaction remote_compaction_v2 remote_control remote_models remote_plugin
  resize_all_images respect_system_proxy responses_websockets responses_websockets_v2 rollout_budget runtime_metrics
  search_tool secret_auth_storage send_async_message shell_zsh_fork skill_env_var_dependency_prompt
  skill_mcp_dependency_install skill_search sleep_tool standalone_web_search step_model_switching system_proxy_fallback
  terminal_resize_reflow token_budget tool_suggest transcript_v2 tui_app_server tui_workspace ultrafast_mode
  unbounded_connection_retries undo unified_image_budget untrusted_as_tool_output use_agent_identity use_legacy_landlock
  use_linux_sandbox_bwrap voice_transcription web_search_cached windows_sandbox_service workspace_dependencies worktrees
  `
    .trim()
    .split(/\s+/),
);

/**
 * Whether heddle does not do what a value of a feature asks for. Features that heddle can switch
 * are not looked at here.
 */
export function isUnservedFeature(name: string, value: JsonValue): boolean {
  if (ALWAYS_ON_FEATURES.has(name)) return value === false;
  return !UNSERVED_FEATURES.has(name) || asksForSomething(value);
}

/** Whether a value asks for something: `false` and an empty table ask for nothing. */
export function asksForSomething(value: JsonValue): boolean {
  return value !== false && !(isTable(value) && Object.keys(value).length === 0);
}
