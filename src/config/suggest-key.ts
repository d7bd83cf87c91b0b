/** The known top-level keys of config.toml, used by heddle or by other programs that share the file. */
export const KNOWN_KEYS: readonly string[] = `
agents allow_login_shell analytics approval_policy approval_timeout_ms approvals_reviewer apps audio auto_review background_terminal_max_timeout browser_use
chatgpt_base_url check_for_update_on_startup cli_auth_credentials_store client_search_provider client_tool_timeout_ms commit_attribution compact_prompt computer_use
default_permissions desktop developer_instructions disable_paste_burst features feedback file_opener forced_chatgpt_workspace_id
forced_login_method ghost_snapshot hide_agent_reasoning history hooks include_apply_patch_tool instructions log_dir marketplaces
mcp_oauth_callback_port mcp_oauth_callback_url mcp_oauth_credentials_store mcp_safety_check mcp_servers memories model model_auto_compact_token_limit
model_auto_compact_token_limit_scope model_catalog_json model_context_window model_instructions_file model_max_output_tokens model_provider
model_providers model_reasoning_effort model_reasoning_summary model_supports_reasoning_summaries model_verbosity notice notify
openai_base_url oss_provider otel permissions personality plan_mode_reasoning_effort plugins preferred_auth_method profile profiles
project_doc_fallback_filenames project_doc_max_bytes project_root_markers projects realtime responses_originator review_model sandbox_mode
sandbox_workspace_write service_tier shell_environment_policy show_raw_agent_reasoning skills sqlite_home suppress_unstable_features_warning
tool_output_token_limit tool_suggest tools tui web_search windows zsh_path
`
  .trim()
  .split(/\s+/);

const EDITS_MAX = 2;
// With two edits, a short word becomes many other words.
const SUGGESTED_LENGTH_MIN = 5;

/** Returns the key of `knownKeys` that an unknown key most resembles. Returns null for known keys, and if none is similar. */
export function suggestKey(key: string, knownKeys: readonly string[]): string | null {
  if (knownKeys.includes(key)) return null;
  let best: string | null = null;
  let fewest = EDITS_MAX + 1;
  for (const known of knownKeys) {
    if (known.length < SUGGESTED_LENGTH_MIN || Math.abs(known.length - key.length) > EDITS_MAX) continue;
    const edits = editDistance(known, key);
    if (edits >= fewest) continue;
    best = known;
    fewest = edits;
  }
  return best;
}

/** Counts the insertions, deletions and replacements that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
