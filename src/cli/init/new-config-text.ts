import type { SandboxMode } from '../../protocol/generated/types.ts';
import type { OfferedProvider } from './offered-providers.ts';

/** The settings of a new config.toml. */
export interface NewSettings {
  provider: OfferedProvider;
  /** Null: the provider has one model only. */
  model: string | null;
  sandbox: SandboxMode;
}

/**
 * Returns the text of a config.toml with comments. Settings in its comments are valid, too. It
 * names the variable of the key only.
 */
export function newConfigText({ provider, model, sandbox }: NewSettings): string {
  const { id, keyVariable, table } = provider;
  return `# The configuration of heddle, written by heddle init. docs/configuration.md lists all settings.
# Changes count for threads that start after them. heddle doctor checks this file.

# The provider, and its model. heddle models lists the models that the provider has.
model_provider = ${toml(id)}
${model === null ? '' : `model = ${toml(model)}\n`}${keyComment(keyVariable)}
# How much the model thinks, if it can: "low", "medium" or "high".
# model_reasoning_effort = "medium"

# The limits of commands:
#   "read-only"           they read files, and write none
#   "workspace-write"     they write in the folder of the thread, too
#   "danger-full-access"  there is no sandbox
sandbox_mode = ${toml(sandbox)}

# When heddle asks before a command: "untrusted", "on-request" or "never".
# approval_policy = "on-request"

# Further settings of "workspace-write":
# [sandbox_workspace_write]
# network_access = true
${table === null ? '' : `\n${tableText(id, { ...table, keyVariable })}`}`;
}

function keyComment(keyVariable: string | null): string {
  return keyVariable === null
    ? ''
    : `# The API key is in the environment variable ${keyVariable}. Do not write it into this file.\n`;
}

function tableText(
  id: string,
  { keyVariable, ...table }: NonNullable<OfferedProvider['table']> & { keyVariable: string | null },
): string {
  return `[model_providers.${id}]
name = ${toml(table.name)}
base_url = ${toml(table.base_url)}
${keyVariable === null ? '' : `env_key = ${toml(keyVariable)}\n`}# The API: "responses", or "chat" for Chat Completions.
wire_api = ${toml(table.wire_api)}
`;
}

/** A string of TOML: for strings without control characters, it is that of JSON. */
function toml(text: string): string {
  return JSON.stringify(text);
}
